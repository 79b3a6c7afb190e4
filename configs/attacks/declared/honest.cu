// attack: the honest program with which the exploits are compared
// judged by: control
// expects: valid
// insert: honest
