// kevo: launch
// kevo: memset
// kevo: workspace
// kevo: tensormap
// kevo: when
// kevo: for
