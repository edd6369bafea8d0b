// look.rs: a list that is followed, asked in Rust by the C library libbloomfilter.
//
//	rustc -O look.rs -l bloomfilter && ./look users.bloom
//
// WatchedBloomFilter is for a program of yours; main asks it for each line of its input.
use std::ffi::{c_void, CStr, CString};
use std::os::raw::{c_char, c_int, c_uint};
use std::{mem::size_of, ptr};

#[repr(C)]
struct Detail { code: c_int, system_error: c_int, text: [c_char; 512] }

#[repr(C)]
pub struct Status {
    pub place: i32, pub serial_kind: i32, pub serial: u64,
    pub true_at: i64, pub looked: i64, pub age: i64, pub every: i64, pub heartbeat: i64, pub expires: i64, pub since: i64,
    pub failures: u64, pub superseded: u64,
    pub identity: [c_char; 40], pub list: [c_char; 216], pub reason: [c_char; 24], pub message: [c_char; 264],
}

extern "C" {
    fn bloomfilter_watched_open(path: *const c_char, flags: c_uint, identity: *const c_char, watched: *mut *mut c_void, detail: *mut Detail) -> c_int;
    fn bloomfilter_reader_open(watched: *mut c_void, reader: *mut *mut c_void) -> c_int;
    fn bloomfilter_reader_enter(reader: *mut c_void) -> *const c_void;
    fn bloomfilter_reader_leave(reader: *mut c_void);
    fn bloomfilter_contains_int64(filter: *const c_void, key: i64) -> c_int;
    fn bloomfilter_contains(filter: *const c_void, key_type: c_int, bytes: *const u8, length: usize) -> c_int;
    fn bloomfilter_contains_int64_batch(filter: *const c_void, keys: *const i64, count: usize, found: *mut u8, answered: *mut usize) -> c_int;
    fn bloomfilter_get_status(filter: *const c_void, status: *mut Status, size: usize) -> c_int;
    fn bloomfilter_strerror(code: c_int) -> *const c_char;
}

fn text(chars: *const c_char) -> String {
    unsafe { CStr::from_ptr(chars) }.to_string_lossy().into_owned()
}

/// Of one thread at a time, as &mut says. It lives as long as the program, which closes nothing.
pub struct WatchedBloomFilter { reader: *mut c_void }

impl WatchedBloomFilter {
    pub fn open(path: &str) -> Result<Self, String> {
        let path = CString::new(path).map_err(|error| error.to_string())?;
        let (mut watched, mut reader) = (ptr::null_mut(), ptr::null_mut());
        let mut detail = Detail { code: 0, system_error: 0, text: [0; 512] };
        if unsafe { bloomfilter_watched_open(path.as_ptr(), 0, ptr::null(), &mut watched, &mut detail) } < 0 {
            return Err(text(detail.text.as_ptr()));
        }
        unsafe { bloomfilter_reader_open(watched, &mut reader) };
        Ok(WatchedBloomFilter { reader })
    }

    /// An error says nothing of the key: it is an Err, and never a "no".
    fn ask(&mut self, question: impl FnOnce(*const c_void) -> c_int) -> Result<bool, String> {
        let code = question(unsafe { bloomfilter_reader_enter(self.reader) });
        unsafe { bloomfilter_reader_leave(self.reader) };
        if code < 0 { Err(text(unsafe { bloomfilter_strerror(code) })) } else { Ok(code == 1) }
    }

    pub fn contains(&mut self, key: i64) -> Result<bool, String> {
        self.ask(|filter| unsafe { bloomfilter_contains_int64(filter, key) })
    }

    pub fn contains_text(&mut self, key: &str) -> Result<bool, String> {
        self.ask(|filter| unsafe { bloomfilter_contains(filter, 2, key.as_ptr(), key.len()) }) // BLOOMFILTER_KEY_TEXT
    }

    pub fn contains_many(&mut self, keys: &[i64]) -> Result<Vec<bool>, String> {
        let mut found = vec![0u8; keys.len()];
        self.ask(|filter| unsafe { bloomfilter_contains_int64_batch(filter, keys.as_ptr(), keys.len(), found.as_mut_ptr(), ptr::null_mut()) })?;
        Ok(found.iter().map(|one| *one == 1).collect())
    }

    pub fn status(&mut self) -> Result<Status, String> {
        let mut status: Status = unsafe { std::mem::zeroed() };
        self.ask(|filter| unsafe { bloomfilter_get_status(filter, &mut status, size_of::<Status>()) })?;
        Ok(status)
    }
}

fn main() -> Result<(), String> {
    let mut filter = WatchedBloomFilter::open(&std::env::args().nth(1).expect("a file"))?;
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let keys: Vec<i64> = line.split(' ').filter_map(|key| key.parse().ok()).collect();
        match line.split_once(' ') {
            Some(("text", key)) => println!("{}", filter.contains_text(key)?),
            Some(_) => println!("{}", filter.contains_many(&keys)?.iter().map(bool::to_string).collect::<Vec<_>>().join(" ")),
            None if line == "status" => filter.status().map(|status| println!("serial {} reason {}", status.serial, text(status.reason.as_ptr())))?,
            None => println!("{}", filter.contains(keys[0])?),
        }
    }
    Ok(())
}
