// For CommonJS: Node 20.19 and newer load ES modules this way.
module.exports = require('./index.js')
