//! Maps and programs that are in the kernel, found again by number and name.
use super::{Attributes, MAX_NAME_BYTES, call, call_for_descriptor, command};
use std::io;
use std::os::fd::OwnedFd;

/// Where `struct bpf_map_info` and `struct bpf_prog_info` have the name.
pub(super) const MAP_INFO_NAME: usize = 24;
pub(super) const PROGRAM_INFO_NAME: usize = 64;

/// The beginning of what the kernel tells about a map or a program.
pub(super) struct Info([u8; 80]);

impl Default for Info {
    fn default() -> Self {
        Self([0; 80])
    }
}

impl Info {
    pub(super) fn with(mut self, at: usize, bytes: &[u8]) -> Self {
        if let Some(field) = self.0.get_mut(at..at + bytes.len()) {
            field.copy_from_slice(bytes);
        }
        self
    }

    pub(super) fn word_at(&self, at: usize) -> u32 {
        self.0.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u32::from_ne_bytes(*bytes))
    }

    pub(super) fn name_at(&self, at: usize) -> String {
        let field = self.0.get(at..at + MAX_NAME_BYTES).unwrap_or_default();
        let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
        String::from_utf8_lossy(&field[..end]).into_owned()
    }
}

/// # Safety
/// Addresses in the request point to what the kernel may write there, alive during the call.
pub(super) unsafe fn info(of: &OwnedFd, mut request: Info) -> io::Result<Info> {
    let length = request.0.len() as u32;
    let mut attributes =
        Attributes::new().descriptor(0, of).word(4, length).address(8, request.0.as_mut_ptr());
    // SAFETY: the kernel reads and writes at most the announced bytes of the request; the rest is the caller's promise.
    unsafe { call(command::INFO, &mut attributes) }?;
    Ok(request)
}

pub(super) fn open(by_id: libc::c_int, id: u32) -> io::Result<OwnedFd> {
    // SAFETY: this command's attributes hold numbers only.
    unsafe { call_for_descriptor(by_id, &mut Attributes::new().word(0, id)) }
}

/// All objects of a kind whose name is this.
pub(super) fn find(
    next: libc::c_int,
    by_id: libc::c_int,
    name: &str,
    name_at: usize,
) -> io::Result<Vec<(OwnedFd, Info)>> {
    let (mut found, mut id) = (Vec::new(), 0);
    loop {
        let mut attributes = Attributes::new().word(0, id);
        // SAFETY: this command's attributes hold numbers only.
        match unsafe { call(next, &mut attributes) } {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            Err(error) => return Err(error),
            Ok(_) => id = attributes.word_at(4),
        }
        let descriptor = match open(by_id, id) {
            // It has gone meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            other => other?,
        };
        // SAFETY: a request without addresses.
        let about = unsafe { info(&descriptor, Info::default()) }?;
        if about.name_at(name_at) == name {
            found.push((descriptor, about));
        }
    }
}
