// look.rs: a list that is followed, asked in Rust by the C library libbloomfilter.
//
//	rustc -O look.rs -l bloomfilter && ./look users.bloom
//
// WatchedBloomFilter is for a program of yours; main asks it for each line of its input.
use std::ffi::{c_void, CStr, CString};
use std::io::BufRead;
use std::os::raw::{c_char, c_int, c_uint};

#[repr(C)]
struct Detail {
    code: c_int,
    system_error: c_int,
    text: [c_char; 512],
}

#[repr(C)]
pub struct Status {
    pub place: i32,
    pub serial_kind: i32,
    pub serial: u64,
    pub true_at: i64, // microseconds, UTC
    pub looked: i64,
    pub age: i64,
    pub every: i64,
    pub heartbeat: i64,
    pub expires: i64,
    pub since: i64,
    pub failures: u64,
    pub superseded: u64,
    identity: [c_char; 40],
    list: [c_char; 216],
    word: [c_char; 24],
    text: [c_char; 264],
}

extern "C" {
    fn bloomfilter_watched_open(path: *const c_char, flags: c_uint, identity: *const c_char, watched: *mut *mut c_void, detail: *mut Detail) -> c_int;
    fn bloomfilter_watched_close(watched: *mut c_void);
    fn bloomfilter_reader_open(watched: *mut c_void, reader: *mut *mut c_void) -> c_int;
    fn bloomfilter_reader_close(reader: *mut c_void);
    fn bloomfilter_reader_enter(reader: *mut c_void) -> *const c_void;
    fn bloomfilter_reader_leave(reader: *mut c_void);
    fn bloomfilter_contains_int64(filter: *const c_void, key: i64) -> c_int;
    fn bloomfilter_contains(filter: *const c_void, key_type: c_int, bytes: *const u8, length: usize) -> c_int;
    fn bloomfilter_contains_int64_batch(filter: *const c_void, keys: *const i64, count: usize, found: *mut u8, answered: *mut usize) -> c_int;
    fn bloomfilter_get_status(filter: *const c_void, status: *mut Status, size: usize) -> c_int;
    fn bloomfilter_strerror(code: c_int) -> *const c_char;
}

const KEY_TEXT: c_int = 2;

fn text(chars: *const c_char) -> String {
    unsafe { CStr::from_ptr(chars) }.to_string_lossy().into_owned()
}

/// An error says nothing of the key: it is an Err, and never a "no".
fn checked(code: c_int) -> Result<bool, String> {
    if code < 0 {
        return Err(text(unsafe { bloomfilter_strerror(code) }));
    }
    Ok(code == 1)
}

/// Of one thread at a time, as &mut says; another thread opens its own.
pub struct WatchedBloomFilter {
    watched: *mut c_void,
    reader: *mut c_void,
}

impl WatchedBloomFilter {
    pub fn open(path: &str) -> Result<Self, String> {
        let path = CString::new(path).map_err(|error| error.to_string())?;
        let mut made = WatchedBloomFilter { watched: std::ptr::null_mut(), reader: std::ptr::null_mut() };
        let mut detail = Detail { code: 0, system_error: 0, text: [0; 512] };
        if unsafe { bloomfilter_watched_open(path.as_ptr(), 0, std::ptr::null(), &mut made.watched, &mut detail) } < 0 {
            return Err(text(detail.text.as_ptr()));
        }
        checked(unsafe { bloomfilter_reader_open(made.watched, &mut made.reader) })?;
        Ok(made)
    }

    fn ask<T>(&mut self, question: impl FnOnce(*const c_void) -> T) -> T {
        let answer = question(unsafe { bloomfilter_reader_enter(self.reader) });
        unsafe { bloomfilter_reader_leave(self.reader) };
        answer
    }

    pub fn contains(&mut self, key: i64) -> Result<bool, String> {
        self.ask(|filter| checked(unsafe { bloomfilter_contains_int64(filter, key) }))
    }

    pub fn contains_text(&mut self, key: &str) -> Result<bool, String> {
        self.ask(|filter| checked(unsafe { bloomfilter_contains(filter, KEY_TEXT, key.as_ptr(), key.len()) }))
    }

    pub fn contains_many(&mut self, keys: &[i64]) -> Result<Vec<bool>, String> {
        let mut found = vec![0u8; keys.len()];
        self.ask(|filter| {
            checked(unsafe { bloomfilter_contains_int64_batch(filter, keys.as_ptr(), keys.len(), found.as_mut_ptr(), std::ptr::null_mut()) })
        })?;
        Ok(found.iter().map(|one| *one == 1).collect())
    }

    pub fn status(&mut self) -> Result<Status, String> {
        let mut status: Status = unsafe { std::mem::zeroed() };
        self.ask(|filter| checked(unsafe { bloomfilter_get_status(filter, &mut status, std::mem::size_of::<Status>()) }))?;
        Ok(status)
    }
}

impl Drop for WatchedBloomFilter {
    fn drop(&mut self) {
        unsafe {
            if !self.reader.is_null() {
                bloomfilter_reader_close(self.reader);
            }
            if !self.watched.is_null() {
                bloomfilter_watched_close(self.watched);
            }
        }
    }
}

fn answer(filter: &mut WatchedBloomFilter, line: &str) -> Result<String, String> {
    if line == "status" {
        let status = filter.status()?;
        return Ok(format!("list {} serial {} word {}", text(status.list.as_ptr()), status.serial, text(status.word.as_ptr())));
    }
    if let Some(key) = line.strip_prefix("text ") {
        return Ok(filter.contains_text(key)?.to_string());
    }
    let keys = line.split(' ').map(str::parse).collect::<Result<Vec<i64>, _>>().map_err(|error| error.to_string())?;
    let found = if keys.len() == 1 { vec![filter.contains(keys[0])?] } else { filter.contains_many(&keys)? };
    Ok(found.iter().map(bool::to_string).collect::<Vec<_>>().join(" "))
}

fn run(path: &str) -> Result<(), String> {
    let mut filter = WatchedBloomFilter::open(path)?;
    for line in std::io::stdin().lock().lines() {
        println!("{}", answer(&mut filter, &line.map_err(|error| error.to_string())?)?);
    }
    Ok(())
}

fn main() {
    if let Err(error) = run(&std::env::args().nth(1).unwrap_or_default()) {
        eprintln!("{}", error);
        std::process::exit(2);
    }
}
