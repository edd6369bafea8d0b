// Work that is written once, to be done with waiting or without.
//
// A generator yields what a step gives back: a value, or a promise of it. The
// runner hands the value in. So opening is written once for open and openSync.

export function runSync (steps) {
  let step = steps.next()
  while (!step.done) {
    step = steps.next(step.value)
  }
  return step.value
}

export async function runAsync (steps) {
  let step = steps.next()
  while (!step.done) {
    try {
      step = steps.next(await step.value)
    } catch (error) {
      step = steps.throw(error)
    }
  }
  return step.value
}

export const noPause = () => undefined

/** Lets others have the thread. */
export const pause = () => new Promise((resolve) => (globalThis.setImmediate ?? setTimeout)(resolve))
