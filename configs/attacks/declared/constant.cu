// attack: fills its outputs with one value after it has computed them
// judged by: outcome
// expects: incorrect
// insert: honest
// each output: memset {name} 63
