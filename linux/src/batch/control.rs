//! Control messages: traffic class and local address of a datagram, and how long each of several is.
use std::mem;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Room for a traffic class (24 bytes), a local address (40 at most) and the length of segments (24), aligned as the
/// kernel wants it.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub(super) struct Control([u8; 88]);

/// What the kernel told of a datagram.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Told {
    pub traffic_class: Option<u8>,
    pub local: Option<IpAddr>,
    /// Length of each datagram but the last, in bytes, when several came as one.
    pub segment_bytes: Option<usize>,
}

impl Control {
    pub(super) const EMPTY: Self = Self([0; 88]);

    /// Its first `length` bytes.
    pub(super) fn bytes(&self, length: usize) -> &[u8] {
        &self.0[..length.min(self.0.len())]
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut libc::c_void {
        self.0.as_mut_ptr().cast()
    }

    /// Sets traffic class (0 is the default and takes no room) and source address of a datagram; returns the length.
    /// What goes to an IPv4 address needs IPv4's messages, also from an IPv6 socket.
    pub(super) fn write(&mut self, is_ipv4: bool, class: u8, from: Option<IpAddr>) -> usize {
        let mut used = 0;
        if class != 0 {
            let (level, kind) = match is_ipv4 {
                true => (libc::IPPROTO_IP, libc::IP_TOS),
                false => (libc::IPPROTO_IPV6, libc::IPV6_TCLASS),
            };
            used = self.append(used, level, kind, libc::c_int::from(class));
        }
        match from.map(|from| from.to_canonical()) {
            Some(IpAddr::V4(from)) if is_ipv4 => {
                let from = libc::in_addr { s_addr: u32::from_ne_bytes(from.octets()) };
                let nothing = libc::in_addr { s_addr: 0 };
                let info = libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: from, ipi_addr: nothing };
                self.append(used, libc::IPPROTO_IP, libc::IP_PKTINFO, info)
            }
            // A link-local address says nothing without its interface, which the destination names.
            Some(IpAddr::V6(from)) if !is_ipv4 && !from.is_unicast_link_local() => {
                let ipi6_addr = libc::in6_addr { s6_addr: from.octets() };
                let info = libc::in6_pktinfo { ipi6_addr, ipi6_ifindex: 0 };
                self.append(used, libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, info)
            }
            _ => used,
        }
    }

    /// Behind the `used` bytes: the datagram is several, each of `segment_bytes` but the last. Returns the length.
    pub(super) fn write_segment_bytes(&mut self, used: usize, segment_bytes: u16) -> usize {
        self.append(used, libc::SOL_UDP, libc::UDP_SEGMENT, segment_bytes)
    }

    /// Appends a message behind the `used` bytes; returns how many are used then.
    fn append<T: Copy>(&mut self, used: usize, level: libc::c_int, kind: libc::c_int, payload: T) -> usize {
        let payload_bytes = mem::size_of::<T>() as libc::c_uint;
        // SAFETY: both are pure arithmetic on lengths.
        let (space, length) = unsafe { (libc::CMSG_SPACE(payload_bytes), libc::CMSG_LEN(payload_bytes)) };
        let end = used + space as usize;
        assert!(end <= self.0.len() && used.is_multiple_of(mem::align_of::<libc::cmsghdr>()));
        // SAFETY: a structure of integers, for which zeroes are values. With musl it has one more, for padding.
        let mut header: libc::cmsghdr = unsafe { mem::zeroed() };
        (header.cmsg_len, header.cmsg_level, header.cmsg_type) = (length as _, level, kind);
        let pointer = self.0[used..].as_mut_ptr();
        // SAFETY: `Control` is aligned for `cmsghdr`, so is `used`, and, as just checked, header and payload fit
        // behind it.
        unsafe {
            pointer.cast::<libc::cmsghdr>().write(header);
            libc::CMSG_DATA(pointer.cast()).cast::<T>().write_unaligned(payload);
        }
        end
    }
}

/// What the control messages of a received datagram say.
pub(super) fn read(header: &libc::msghdr) -> Told {
    let mut told = Told::default();
    // SAFETY: the kernel filled `msg_control` up to `msg_controllen`, both still as `recvmmsg` left them, and
    // `receive`, which would overwrite them, cannot run while the receiver is borrowed.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !next.is_null() {
        // SAFETY: not null, so it points to a whole `cmsghdr` inside the control storage.
        let message = unsafe { next.read_unaligned() };
        // SAFETY: the payload follows the header.
        let data = unsafe { libc::CMSG_DATA(next) };
        match (message.cmsg_level, message.cmsg_type) {
            // SAFETY: an IP_TOS message carries one byte.
            (libc::IPPROTO_IP, libc::IP_TOS) => told.traffic_class = Some(unsafe { data.read() }),
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                // SAFETY: an IPV6_TCLASS message carries an int.
                told.traffic_class =
                    u8::try_from(unsafe { data.cast::<libc::c_int>().read_unaligned() }).ok();
            }
            (libc::SOL_UDP, libc::UDP_GRO) => {
                // SAFETY: a UDP_GRO message carries an int.
                let length = unsafe { data.cast::<libc::c_int>().read_unaligned() };
                told.segment_bytes = usize::try_from(length).ok().filter(|&length| length > 0);
            }
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                // SAFETY: an IP_PKTINFO message carries an `in_pktinfo`.
                let info = unsafe { data.cast::<libc::in_pktinfo>().read_unaligned() };
                told.local = Some(Ipv4Addr::from(info.ipi_addr.s_addr.to_ne_bytes()).into());
            }
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                // SAFETY: an IPV6_PKTINFO message carries an `in6_pktinfo`.
                let info = unsafe { data.cast::<libc::in6_pktinfo>().read_unaligned() };
                told.local = Some(Ipv6Addr::from(info.ipi6_addr.s6_addr).to_canonical());
            }
            _ => {}
        }
        // SAFETY: `next` came from CMSG_FIRSTHDR or CMSG_NXTHDR on the same header.
        next = unsafe { libc::CMSG_NXTHDR(header, next) };
    }
    told
}
