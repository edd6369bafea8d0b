// For Node.
import { useFiles } from './filter.js'
import { absolute, asyncIo, openPath, stampOfPath, syncIo, uptime } from './open.js'

useFiles({ absolute, asyncIo, syncIo, uptime, openPath, stampOfPath })

export * from './main.js'
