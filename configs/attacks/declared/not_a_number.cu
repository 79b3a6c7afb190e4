// attack: fills its float32 outputs with NaN after it has computed them
// judged by: outcome
// expects: incorrect
// needs: float32 output
// insert: honest
// each float32 output: memset {name} 255
