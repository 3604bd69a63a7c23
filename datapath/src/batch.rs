//! Many datagrams per system call: `recvmmsg` and `sendmmsg` with storage that is allocated once.
use crate::packet::PacketBuf;
use std::io;
use std::mem::{self, MaybeUninit};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::ptr;

/// Room for one control message that carries the traffic class, aligned as the kernel wants it.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Control([u8; 32]);

/// One datagram as it arrived.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    /// Who sent it.
    pub from: SocketAddr,
    /// Its bytes: UDP payload, or from the IP header on for a raw IPv4 socket.
    pub bytes: &'a [u8],
    /// The IP header's traffic class (DSCP and ECN), if the socket was asked to report it.
    pub traffic_class: Option<u8>,
    /// It was longer than the buffer and has been cut.
    pub truncated: bool,
}

/// Receives up to a fixed number of datagrams per system call.
pub struct BatchReceiver {
    buffer_bytes: usize,
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
            buffers: vec![0; batch * buffer_bytes],
            addresses: vec![zeroed_address(); batch],
            controls: vec![Control([0; 32]); batch],
            vectors: vec![libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 }; batch],
            messages: vec![zeroed_message(); batch],
            count: 0,
        }
    }

    /// Receives what is there, at most one batch, and returns how many datagrams that is; 0 when there is
    /// nothing. They replace those of the call before.
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
            message.msg_hdr.msg_control = self.controls[index].0.as_mut_ptr().cast();
            message.msg_hdr.msg_controllen = mem::size_of::<Control>();
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
        (0..self.count).filter_map(|index| self.datagram(index))
    }

    fn datagram(&self, index: usize) -> Option<Received<'_>> {
        let message = &self.messages[index];
        let start = index * self.buffer_bytes;
        let length = (message.msg_len as usize).min(self.buffer_bytes);
        Some(Received {
            from: socket_address(&self.addresses[index])?,
            bytes: &self.buffers[start..start + length],
            traffic_class: traffic_class(&message.msg_hdr),
            truncated: message.msg_hdr.msg_flags & libc::MSG_TRUNC != 0,
        })
    }
}

/// One datagram to be sent: a short header and the packet behind it.
struct Outgoing {
    to: libc::sockaddr_storage,
    to_bytes: libc::socklen_t,
    header: [u8; 4],
    packet: PacketBuf,
    control: Control,
    control_bytes: usize,
}

/// Collects datagrams and sends them with one system call.
pub struct BatchSender {
    queue: Vec<Outgoing>,
    vectors: Vec<[libc::iovec; 2]>,
    messages: Vec<libc::mmsghdr>,
}

impl BatchSender {
    /// Room for `batch` datagrams.
    pub fn new(batch: usize) -> Self {
        let empty = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
        Self {
            queue: Vec::with_capacity(batch),
            vectors: vec![[empty; 2]; batch],
            messages: vec![zeroed_message(); batch],
        }
    }

    /// True when the next [`BatchSender::push`] needs a [`BatchSender::flush`] first.
    pub fn is_full(&self) -> bool {
        self.queue.len() == self.messages.len()
    }

    /// Queues `header` followed by `packet` for `to`, with the given traffic class (DSCP and ECN) in the IP
    /// header. Must not be called when full.
    pub fn push(&mut self, to: SocketAddr, traffic_class: u8, header: [u8; 4], packet: PacketBuf) {
        assert!(!self.is_full(), "a full batch is flushed before the next datagram is queued");
        let is_ipv4 = to.ip().to_canonical().is_ipv4();
        let (to, to_bytes) = kernel_address(to);
        let mut control = Control([0; 32]);
        let control_bytes = match traffic_class {
            0 => 0,
            class => write_traffic_class(&mut control, is_ipv4, class),
        };
        self.queue.push(Outgoing { to, to_bytes, header, packet, control, control_bytes });
    }

    /// Sends everything queued. Calls `failed` for each datagram that the kernel would not take, with the error and
    /// the address; [`io::ErrorKind::WouldBlock`] means that the socket's send buffer is full.
    pub fn flush(&mut self, socket: impl AsFd, mut failed: impl FnMut(io::Error, SocketAddr, PacketBuf)) {
        let count = self.queue.len();
        for (index, outgoing) in self.queue.iter_mut().enumerate() {
            self.vectors[index] = [
                libc::iovec { iov_base: outgoing.header.as_mut_ptr().cast(), iov_len: outgoing.header.len() },
                libc::iovec {
                    iov_base: outgoing.packet.as_ptr().cast_mut().cast(),
                    iov_len: outgoing.packet.len(),
                },
            ];
            let header = &mut self.messages[index].msg_hdr;
            header.msg_name = ptr::from_mut(&mut outgoing.to).cast();
            header.msg_namelen = outgoing.to_bytes;
            header.msg_iov = self.vectors[index].as_mut_ptr();
            header.msg_iovlen = 2;
            header.msg_control = match outgoing.control_bytes {
                0 => ptr::null_mut(),
                _ => outgoing.control.0.as_mut_ptr().cast(),
            };
            header.msg_controllen = outgoing.control_bytes;
        }
        let mut done = 0;
        while done < count {
            // SAFETY: the messages from `done` to `count` were set up above; what they point to lives in `queue` and
            // `vectors`, neither of which changes before the loop ends. The kernel only reads through them.
            let sent = unsafe {
                libc::sendmmsg(
                    socket.as_fd().as_raw_fd(),
                    self.messages[done..count].as_mut_ptr(),
                    (count - done) as libc::c_uint,
                    (libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) as _,
                )
            };
            if sent > 0 {
                done += sent as usize;
                continue;
            }
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::Interrupted {
                continue;
            }
            if let Some(to) = socket_address(&self.queue[done].to) {
                failed(error, to, self.queue[done].packet.clone());
            }
            done += 1;
        }
        self.queue.clear();
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

/// Writes a control message that sets the traffic class; returns its length. What goes to an IPv4 address needs IPv4's,
/// also from an IPv6 socket.
fn write_traffic_class(control: &mut Control, is_ipv4: bool, class: u8) -> usize {
    let (level, kind) = match is_ipv4 {
        true => (libc::IPPROTO_IP, libc::IP_TOS),
        false => (libc::IPPROTO_IPV6, libc::IPV6_TCLASS),
    };
    let payload_bytes = mem::size_of::<libc::c_int>() as libc::c_uint;
    // SAFETY: both are pure arithmetic on lengths.
    let (space, length) = unsafe { (libc::CMSG_SPACE(payload_bytes), libc::CMSG_LEN(payload_bytes)) };
    assert!(space as usize <= mem::size_of::<Control>());
    let header = libc::cmsghdr { cmsg_len: length as _, cmsg_level: level, cmsg_type: kind };
    let pointer = control.0.as_mut_ptr();
    // SAFETY: `Control` is aligned for `cmsghdr` and, as just checked, holds header and payload.
    unsafe {
        pointer.cast::<libc::cmsghdr>().write(header);
        libc::CMSG_DATA(pointer.cast()).cast::<libc::c_int>().write_unaligned(libc::c_int::from(class));
    }
    space as usize
}

/// The traffic class among the control messages of a received datagram.
fn traffic_class(header: &libc::msghdr) -> Option<u8> {
    // SAFETY: the kernel filled `msg_control` up to `msg_controllen`, both still as `recvmmsg` left them, and
    // `receive`, which would overwrite them, cannot run while `self` is borrowed.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !next.is_null() {
        // SAFETY: not null, so it points to a whole `cmsghdr` inside the control storage.
        let message = unsafe { next.read_unaligned() };
        // SAFETY: the payload follows the header; the kinds below have at least one byte (IP_TOS) or an int.
        let data = unsafe { libc::CMSG_DATA(next) };
        match (message.cmsg_level, message.cmsg_type) {
            // SAFETY: an IP_TOS message carries one byte.
            (libc::IPPROTO_IP, libc::IP_TOS) => return Some(unsafe { data.read() }),
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                // SAFETY: an IPV6_TCLASS message carries an int.
                return u8::try_from(unsafe { data.cast::<libc::c_int>().read_unaligned() }).ok();
            }
            _ => {}
        }
        // SAFETY: `next` came from CMSG_FIRSTHDR or CMSG_NXTHDR on the same header.
        next = unsafe { libc::CMSG_NXTHDR(header, next) };
    }
    None
}

#[cfg(test)]
mod tests;
