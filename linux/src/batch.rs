//! Many datagrams per system call: `recvmmsg` and `sendmmsg` with storage that is allocated once.
//!
//! UDP datagrams of one flow may pass the kernel as one, in both directions: `UDP_SEGMENT` and `UDP_GRO`, see udp(7).
//!
//! * `control`: traffic classes and local addresses, beside the bytes. `send`: the way out.
mod control;
mod send;

pub use send::{BatchSender, MAX_HEADER_BYTES};

use crate::socket_option;
use control::Control;
use std::io;
use std::mem::{self, MaybeUninit};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::ptr;

/// One datagram as it arrived.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    /// Who sent it.
    pub from: SocketAddr,
    /// The address of this host that it was sent to, if the socket was asked to report it.
    pub to: Option<IpAddr>,
    /// Its bytes: UDP payload, or from the IP header on for a raw IPv4 socket.
    pub bytes: &'a [u8],
    /// The IP header's traffic class (DSCP and ECN), if the socket was asked to report it.
    pub traffic_class: Option<u8>,
    /// It was longer than the buffer and has been cut.
    pub truncated: bool,
}

/// Bytes of the longest message that may hold several datagrams.
const JOINED_BYTES: usize = 65_536;

/// Messages for each system call when each may hold several datagrams.
const JOINED_BATCH: usize = 16;

/// Receives up to a fixed number of messages per system call.
pub struct BatchReceiver {
    buffer_bytes: usize,
    /// A datagram longer than this is cut.
    datagram_bytes: usize,
    buffers: Vec<u8>,
    addresses: Vec<libc::sockaddr_storage>,
    controls: Vec<Control>,
    vectors: Vec<libc::iovec>,
    messages: Vec<libc::mmsghdr>,
    count: usize,
}

impl BatchReceiver {
    /// Room for `batch` datagrams of up to `buffer_bytes` each.
    pub fn new(batch: usize, buffer_bytes: usize) -> Self {
        Self {
            buffer_bytes,
            datagram_bytes: buffer_bytes,
            buffers: vec![0; batch * buffer_bytes],
            addresses: vec![zeroed_address(); batch],
            controls: vec![Control::EMPTY; batch],
            vectors: vec![libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 }; batch],
            messages: vec![zeroed_message(); batch],
            count: 0,
        }
    }

    /// For a UDP socket that may hand over datagrams of a flow joined, and is asked to; else as [`BatchReceiver::new`].
    pub fn joined(socket: impl AsFd, batch: usize, buffer_bytes: usize) -> Self {
        match socket_option::set(socket, libc::SOL_UDP, libc::UDP_GRO, 1) {
            Ok(()) => Self { datagram_bytes: buffer_bytes, ..Self::new(JOINED_BATCH, JOINED_BYTES) },
            Err(_) => Self::new(batch, buffer_bytes),
        }
    }

    /// Receives what is there, at most one batch, and returns how many datagrams that is; 0 when there is
    /// nothing; several that came joined count once. They replace those of the call before.
    ///
    /// # Errors
    /// The kernel's, see recvmmsg(2); nothing waiting is no error.
    pub fn receive(&mut self, socket: impl AsFd) -> io::Result<usize> {
        self.count = 0;
        for (index, message) in self.messages.iter_mut().enumerate() {
            self.vectors[index] = libc::iovec {
                iov_base: self.buffers[index * self.buffer_bytes..].as_mut_ptr().cast(),
                iov_len: self.buffer_bytes,
            };
            message.msg_len = 0;
            message.msg_hdr.msg_name = ptr::from_mut(&mut self.addresses[index]).cast();
            message.msg_hdr.msg_namelen = mem::size_of::<libc::sockaddr_storage>() as libc::socklen_t;
            message.msg_hdr.msg_iov = &mut self.vectors[index];
            message.msg_hdr.msg_iovlen = 1;
            message.msg_hdr.msg_control = self.controls[index].as_mut_ptr();
            message.msg_hdr.msg_controllen = mem::size_of::<Control>() as _;
            message.msg_hdr.msg_flags = 0;
        }
        // SAFETY: `messages` holds as many valid `mmsghdr` as announced. Each points to its own iovec, address and
        // control storage, all owned by `self`, not moved during the call, and of the announced sizes.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_fd().as_raw_fd(),
                self.messages.as_mut_ptr(),
                self.messages.len() as libc::c_uint,
                libc::MSG_DONTWAIT as _,
                ptr::null_mut(),
            )
        };
        if received < 0 {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(0),
                _ => Err(error),
            };
        }
        self.count = received as usize;
        Ok(self.count)
    }

    /// The datagrams of the last [`BatchReceiver::receive`] whose sender has an IP address.
    pub fn datagrams(&self) -> impl Iterator<Item = Received<'_>> {
        (0..self.count).filter_map(|index| self.message(index)).flatten()
    }

    /// The datagrams of a message: one, or several of one flow.
    fn message(&self, index: usize) -> Option<impl Iterator<Item = Received<'_>>> {
        let message = &self.messages[index];
        let start = index * self.buffer_bytes;
        let length = (message.msg_len as usize).min(self.buffer_bytes);
        let told = control::read(&message.msg_hdr);
        let from = socket_address(&self.addresses[index])?;
        let is_cut = message.msg_hdr.msg_flags & libc::MSG_TRUNC != 0;
        let bytes = &self.buffers[start..start + length];
        let segment_bytes = told.segment_bytes.unwrap_or(length).max(1);
        let longest = self.datagram_bytes;
        // An empty datagram has no chunks, and is one all the same.
        let empty = bytes.is_empty().then_some(bytes);
        Some(empty.into_iter().chain(bytes.chunks(segment_bytes)).map(move |datagram| Received {
            from,
            to: told.local,
            bytes: &datagram[..datagram.len().min(longest)],
            traffic_class: told.traffic_class,
            truncated: is_cut || datagram.len() > longest,
        }))
    }
}

fn zeroed_address() -> libc::sockaddr_storage {
    // SAFETY: plain old data; all zeroes is a valid value (family AF_UNSPEC).
    unsafe { MaybeUninit::zeroed().assume_init() }
}

fn zeroed_message() -> libc::mmsghdr {
    // SAFETY: plain old data; null pointers with zero lengths are valid until set.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// The address in the kernel's form, and its length.
fn kernel_address(address: SocketAddr) -> (libc::sockaddr_storage, libc::socklen_t) {
    let mut storage = zeroed_address();
    let length = match address {
        SocketAddr::V4(v4) => {
            let value = libc::sockaddr_in {
                sin_family: libc::AF_INET as _,
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(v4.ip().octets()) },
                sin_zero: [0; 8],
            };
            // SAFETY: `sockaddr_storage` is larger than `sockaddr_in` and at least as aligned.
            unsafe { ptr::from_mut(&mut storage).cast::<libc::sockaddr_in>().write(value) };
            mem::size_of::<libc::sockaddr_in>()
        }
        SocketAddr::V6(v6) => {
            let value = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as _,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: 0,
                sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                sin6_scope_id: v6.scope_id(),
            };
            // SAFETY: `sockaddr_storage` is larger than `sockaddr_in6` and at least as aligned.
            unsafe { ptr::from_mut(&mut storage).cast::<libc::sockaddr_in6>().write(value) };
            mem::size_of::<libc::sockaddr_in6>()
        }
    };
    (storage, length as libc::socklen_t)
}

/// The address in Rust's form; an IPv4 address mapped into IPv6 becomes plain IPv4.
fn socket_address(storage: &libc::sockaddr_storage) -> Option<SocketAddr> {
    match libc::c_int::from(storage.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family says that the storage holds a `sockaddr_in`, which is smaller.
            let v4 = unsafe { ptr::from_ref(storage).cast::<libc::sockaddr_in>().read() };
            let address = Ipv4Addr::from(v4.sin_addr.s_addr.to_ne_bytes());
            Some(SocketAddr::new(IpAddr::V4(address), u16::from_be(v4.sin_port)))
        }
        libc::AF_INET6 => {
            // SAFETY: the family says that the storage holds a `sockaddr_in6`, which is smaller.
            let v6 = unsafe { ptr::from_ref(storage).cast::<libc::sockaddr_in6>().read() };
            let address = Ipv6Addr::from(v6.sin6_addr.s6_addr).to_canonical();
            Some(SocketAddr::new(address, u16::from_be(v6.sin6_port)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
