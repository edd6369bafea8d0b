// The page's three rooms.
import { startAsk } from './ask.js'
import { startLook } from './look.js'
import { startSize } from './size.js'

startSize()
startLook()
startAsk()
