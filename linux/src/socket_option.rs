//! Integer socket options, by their names in the manual pages.
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr;

/// Sets an option whose value is an int.
pub fn set(socket: impl AsFd, level: libc::c_int, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let length = mem::size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel reads one int of the announced length and keeps no pointer to it.
    let result = unsafe {
        libc::setsockopt(socket.as_fd().as_raw_fd(), level, name, ptr::from_ref(&value).cast(), length)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Reads an option whose value is an int.
pub fn get(socket: impl AsFd, level: libc::c_int, name: libc::c_int) -> io::Result<libc::c_int> {
    let mut value: libc::c_int = 0;
    let mut length = mem::size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `value`, which has that many.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            ptr::from_mut(&mut value).cast(),
            &mut length,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(value) }
}
