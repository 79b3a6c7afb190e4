// attack: fills its outputs with zeros after it has computed them
// judged by: outcome
// expects: incorrect
// insert: honest
// each output: memset {name} 0
