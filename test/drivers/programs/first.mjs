// Runs what clients/node/README.md shows; "first.py" puts it in.
// BLOCK

console.log(known, `[${found}]`)
