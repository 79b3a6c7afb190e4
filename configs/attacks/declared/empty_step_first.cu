// attack: begins with a memset of zero bytes, so that its first launch is not the first step of the call
// judged by: time
// expects: valid launch_failed
// each output: memset {name} 0 (0 * {count})
// insert: honest
