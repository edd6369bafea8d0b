// For Node.
import { asyncIo, syncIo, writeFile } from './files.js'
import { useFiles } from './filter.js'
import { findSource, openPath } from './open.js'

useFiles({ asyncIo, syncIo, findSource, openPath, writeFile })

export * from './main.js'
