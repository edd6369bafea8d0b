// For Node.
import { absolute, asyncIo, readText, syncIo, writeFile } from './files.js'
import { useFiles } from './filter.js'
import { nodeDigests } from './node-digests.js'
import { findSource, openPath } from './open.js'
import { refreshWorking } from './working.js'

useFiles({ absolute, readText, digests: nodeDigests, asyncIo, syncIo, findSource, openPath, refreshWorking, writeFile })

export * from './main.js'
