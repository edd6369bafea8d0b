// For browsers, and wherever else there are no files: filters come from bytes or the web.
export * from './main.js'
