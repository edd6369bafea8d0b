// look.rs: a list that is followed, asked in Rust by the C library libbloomfilter.
//
//	rustc -O look.rs -l bloomfilter && ./look users.bloom
use std::ffi::{c_void, CStr, CString};
use std::os::raw::{c_char, c_int, c_uint};
use std::{mem::size_of, ptr};

/// The first fields of bloomfilter_status: of the others as many as you need.
#[repr(C)]
pub struct Status { pub serial: u64, pub true_at: i64, pub age: i64, pub reason: [c_char; 24], pub message: [c_char; 264] }

extern "C" {
    fn bloomfilter_watched_open(path: *const c_char, flags: c_uint, identity: *const c_char, watched: *mut *mut c_void, detail: *mut c_char) -> c_int;
    fn bloomfilter_reader_open(watched: *mut c_void, reader: *mut *mut c_void) -> c_int;
    fn bloomfilter_reader_enter(reader: *mut c_void) -> *const c_void;
    fn bloomfilter_reader_leave(reader: *mut c_void);
    fn bloomfilter_contains(filter: *const c_void, key_type: c_int, bytes: *const u8, length: usize) -> c_int;
    fn bloomfilter_contains_int64_batch(filter: *const c_void, keys: *const i64, count: usize, found: *mut bool, answered: *mut usize) -> c_int;
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
        let mut detail = [0; 520]; // bloomfilter_detail, which begins with its text
        if unsafe { bloomfilter_watched_open(path.as_ptr(), 0, ptr::null(), &mut watched, detail.as_mut_ptr()) } < 0 {
            return Err(text(detail.as_ptr()));
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

    pub fn contains_text(&mut self, key: &str) -> Result<bool, String> {
        self.ask(|filter| unsafe { bloomfilter_contains(filter, 2, key.as_ptr(), key.len()) }) // BLOOMFILTER_KEY_TEXT
    }

    pub fn contains(&mut self, keys: &[i64]) -> Result<Vec<bool>, String> {
        let mut found = vec![false; keys.len()];
        self.ask(|filter| unsafe { bloomfilter_contains_int64_batch(filter, keys.as_ptr(), keys.len(), found.as_mut_ptr(), ptr::null_mut()) })?;
        Ok(found)
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
        if line == "status" {
            println!("serial {} reason {}", filter.status()?.serial, text(filter.status()?.reason.as_ptr()));
        } else if let Some(key) = line.strip_prefix("text ") {
            println!("{}", filter.contains_text(key)?);
        } else {
            let keys: Vec<i64> = line.split(' ').filter_map(|key| key.parse().ok()).collect();
            println!("{}", filter.contains(&keys)?.iter().map(bool::to_string).collect::<Vec<_>>().join(" "));
        }
    }
    Ok(())
}
