//! Socket options that the libraries lack, by their names in the manual pages.
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr;

/// Sets an option whose value is an int.
///
/// # Errors
/// The kernel's, see setsockopt(2).
pub fn set(socket: impl AsFd, level: libc::c_int, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let length = mem::size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel reads one int of the announced length and keeps no pointer to it.
    let result = unsafe {
        libc::setsockopt(socket.as_fd().as_raw_fd(), level, name, ptr::from_ref(&value).cast(), length)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Reads an option whose value is an int.
///
/// # Errors
/// The kernel's, see getsockopt(2).
pub fn get(socket: impl AsFd, level: libc::c_int, name: libc::c_int) -> io::Result<libc::c_int> {
    let mut bytes = [0; mem::size_of::<libc::c_int>()];
    get_bytes(socket, level, name, &mut bytes)?;
    Ok(libc::c_int::from_ne_bytes(bytes))
}

/// Reads an option whose value is a structure into `bytes`, which may also hold what the kernel wants to know first.
/// Returns how many bytes the kernel wrote.
///
/// # Errors
/// The kernel's, see getsockopt(2).
pub fn get_bytes(
    socket: impl AsFd,
    level: libc::c_int,
    name: libc::c_int,
    bytes: &mut [u8],
) -> io::Result<usize> {
    let mut length = libc::socklen_t::try_from(bytes.len()).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: the kernel reads and writes at most `length` bytes of `bytes`, which has at least that many.
    let result = unsafe {
        libc::getsockopt(socket.as_fd().as_raw_fd(), level, name, bytes.as_mut_ptr().cast(), &mut length)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok((length as usize).min(bytes.len())) }
}

#[cfg(test)]
mod tests {
    use super::{get, get_bytes, set};
    use std::net::UdpSocket;

    #[test]
    fn an_option_reads_back_and_a_structure_comes_whole() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        set(&socket, libc::IPPROTO_IP, libc::IP_TTL, 9).unwrap();
        assert_eq!(get(&socket, libc::IPPROTO_IP, libc::IP_TTL).unwrap(), 9);
        // struct linger: whether, and for how long.
        let mut linger = [0xff; 16];
        assert_eq!(get_bytes(&socket, libc::SOL_SOCKET, libc::SO_LINGER, &mut linger).unwrap(), 8);
        assert_eq!((&linger[..8], &linger[8..]), (&[0; 8][..], &[0xff; 8][..]), "no byte beyond its end");
        assert!(get(&socket, libc::IPPROTO_IP, 12_345).is_err());
    }
}
