// attack: the honest program: what the exploits are compared with
// judged by: control
// expects: valid
// insert: honest
