//! Links, addresses, routes and rules by rtnetlink, many requests per system call.
//!
//! A lab sets hundreds of routes within milliseconds, which a process per route could not. All functions act on
//! the network namespace in which the socket was opened. [`either_family`]: what daemons ask for, in IPv4 and IPv6.
//! `operstate`: whether a device works.
pub mod either_family;
mod operstate;

pub use operstate::wait_until_it_sends;

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const HEADER_BYTES: usize = 16;
/// struct ifinfomsg.
pub(crate) const LINK_HEADER_BYTES: usize = 16;
/// Requests sent before their answers are read, so that the answers fit the socket's buffer.
const BATCH: usize = 64;

/// A failed request: what it was about and the kernel's answer.
#[derive(Debug)]
pub struct NetlinkError {
    /// What was asked, in words.
    pub request: String,
    /// The kernel's answer.
    pub source: io::Error,
}

impl std::fmt::Display for NetlinkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.request, self.source)
    }
}

impl std::error::Error for NetlinkError {}

/// One request under construction: header, then family header, then attributes.
#[derive(Debug)]
pub struct Message {
    bytes: Vec<u8>,
    request: String,
}

impl Message {
    /// A request of type `kind` with `flags` beside REQUEST and ACK; `request` says in words what it is.
    pub fn new(kind: u16, flags: i32, family_header: &[u8], request: impl Into<String>) -> Self {
        let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16;
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        bytes.extend_from_slice(family_header);
        pad(&mut bytes);
        Self { bytes, request: request.into() }
    }

    /// Adds an attribute.
    #[must_use]
    pub fn with(mut self, kind: u16, value: &[u8]) -> Self {
        let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
        self.bytes.extend_from_slice(&length.to_ne_bytes());
        self.bytes.extend_from_slice(&kind.to_ne_bytes());
        self.bytes.extend_from_slice(value);
        pad(&mut self.bytes);
        self
    }

    /// Adds an attribute that holds attributes, as written by `fill` on an empty message.
    #[must_use]
    pub fn with_nested(self, kind: u16, fill: impl FnOnce(Self) -> Self) -> Self {
        let inner = fill(Self { bytes: Vec::new(), request: String::new() });
        self.with(kind | libc::NLA_F_NESTED as u16, &inner.bytes)
    }
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

/// A netlink socket in the namespace of the thread that opened it.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
}

impl Netlink {
    /// A socket for routing requests.
    ///
    /// # Errors
    /// As [`Netlink::open`].
    pub fn route() -> io::Result<Self> {
        Self::open(libc::NETLINK_ROUTE)
    }

    /// A socket of the given netlink protocol.
    ///
    /// # Errors
    /// When the kernel gives no netlink socket.
    pub fn open(protocol: i32) -> io::Result<Self> {
        // SAFETY: plain system call; the descriptor is checked and owned right away.
        let fd = unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, protocol) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` was just opened and belongs to nobody else.
        Ok(Self { socket: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    /// Sends all requests and waits for their answers.
    ///
    /// # Errors
    /// The first refused request; the others have been tried as well.
    pub fn send(&self, messages: Vec<Message>) -> Result<(), NetlinkError> {
        let mut first_error = None;
        for batch in messages.chunks(BATCH) {
            let mut bytes = Vec::with_capacity(batch.iter().map(|m| m.bytes.len()).sum());
            for (sequence, message) in batch.iter().enumerate() {
                append(&mut bytes, message, sequence as u32);
            }
            let whole = |source| NetlinkError { request: "talk to the kernel by netlink".to_owned(), source };
            self.write(&bytes).map_err(whole)?;
            let mut answered = 0;
            while answered < batch.len() {
                for answer in parse(&self.read().map_err(whole)?) {
                    answered += 1;
                    if let (Some(error), None) = (answer.error, &first_error) {
                        let request = batch.get(answer.sequence as usize).map(|m| m.request.clone());
                        first_error =
                            Some(NetlinkError { request: request.unwrap_or_default(), source: error });
                    }
                }
            }
        }
        first_error.map_or(Ok(()), Err)
    }

    /// Sends one request and returns the payload of the kernel's answer (behind its netlink header).
    ///
    /// # Errors
    /// [`NetlinkError`]: the request, and the kernel's answer to it.
    pub fn ask(&self, message: Message) -> Result<Vec<u8>, NetlinkError> {
        let fail = |source| NetlinkError { request: message.request.clone(), source };
        let mut bytes = Vec::new();
        append(&mut bytes, &message, 0);
        self.write(&bytes).map_err(fail)?;
        let mut payload = None;
        loop {
            for answer in parse(&self.read().map_err(fail)?) {
                match (answer.is_status, answer.error) {
                    (_, Some(error)) => return Err(fail(error)),
                    (true, None) => return Ok(payload.unwrap_or_default()),
                    (false, None) => payload = Some(answer.payload),
                }
            }
        }
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        // SAFETY: the pointer and length describe `bytes`, which lives through the call.
        let sent = unsafe { libc::send(self.socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        let mut buffer = vec![0u8; 32 * 1024];
        loop {
            // SAFETY: the pointer and length describe `buffer`, which lives through the call.
            let got =
                unsafe { libc::recv(self.socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
            match usize::try_from(got) {
                Ok(got) => {
                    buffer.truncate(got);
                    return Ok(buffer);
                }
                Err(_) => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
    }
}

fn append(bytes: &mut Vec<u8>, message: &Message, sequence: u32) {
    let start = bytes.len();
    bytes.extend_from_slice(&message.bytes);
    let length = (bytes.len() - start) as u32;
    bytes[start..start + 4].copy_from_slice(&length.to_ne_bytes());
    bytes[start + 8..start + 12].copy_from_slice(&sequence.to_ne_bytes());
}

struct Answer {
    sequence: u32,
    /// An acknowledgement or an error, as opposed to data.
    is_status: bool,
    error: Option<io::Error>,
    payload: Vec<u8>,
}

/// Splits what the kernel sent into its messages.
fn parse(mut bytes: &[u8]) -> Vec<Answer> {
    let mut answers = Vec::new();
    while bytes.len() >= HEADER_BYTES {
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let length = (word(0) as usize).clamp(HEADER_BYTES, bytes.len());
        let kind = i32::from(u16::from_ne_bytes([bytes[4], bytes[5]]));
        let is_status = kind == libc::NLMSG_ERROR;
        let code = if is_status && length >= HEADER_BYTES + 4 { word(HEADER_BYTES) as i32 } else { 0 };
        answers.push(Answer {
            sequence: word(8),
            is_status,
            error: (code < 0).then(|| io::Error::from_raw_os_error(-code)),
            payload: bytes[HEADER_BYTES..length].to_vec(),
        });
        bytes = &bytes[length.next_multiple_of(4).min(bytes.len())..];
    }
    answers
}

/// The attributes of a payload that starts with a family header of `skip_bytes`.
pub fn attributes(payload: &[u8], skip_bytes: usize) -> Vec<(u16, &[u8])> {
    let mut found = Vec::new();
    let mut rest = payload.get(skip_bytes..).unwrap_or_default();
    while rest.len() >= 4 {
        let length = usize::from(u16::from_ne_bytes([rest[0], rest[1]])).clamp(4, rest.len());
        let kind = u16::from_ne_bytes([rest[2], rest[3]]) & !(libc::NLA_F_NESTED as u16);
        found.push((kind, &rest[4..length]));
        rest = &rest[length.next_multiple_of(4).min(rest.len())..];
    }
    found
}

/// The index of the device called `name` in the calling thread's namespace.
///
/// # Errors
/// When there is no such device, or the name is none.
pub fn device_index(name: &str) -> io::Result<u32> {
    let name = std::ffi::CString::new(name)?;
    // SAFETY: `name` is a terminated string that lives through the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}

/// Sets a device's MTU and the length of its transmit queue in packets. Do it before the device comes up: a queue in
/// use is exchanged only after the kernel has waited for all processors.
pub fn link_size(device: u32, mtu_bytes: u32, queue_packets: u32) -> Message {
    Message::new(libc::RTM_NEWLINK, 0, &link_header(device, 0), format!("set the MTU of device {device}"))
        .with(libc::IFLA_MTU, &mtu_bytes.to_ne_bytes())
        .with(libc::IFLA_TXQLEN, &queue_packets.to_ne_bytes())
}

/// Brings a device up.
pub fn link_up(device: u32) -> Message {
    let header = link_header(device, libc::IFF_UP as u32);
    Message::new(libc::RTM_NEWLINK, 0, &header, format!("bring device {device} up"))
}

/// Takes a device down.
pub fn link_down(device: u32) -> Message {
    let mut header = link_header(device, libc::IFF_UP as u32);
    header[8..12].fill(0);
    Message::new(libc::RTM_NEWLINK, 0, &header, format!("take device {device} down"))
}

/// struct ifinfomsg: family, type, index, flags to set, and which flags are meant.
fn link_header(device: u32, flags: u32) -> [u8; LINK_HEADER_BYTES] {
    let mut header = [0; LINK_HEADER_BYTES];
    header[4..8].copy_from_slice(&device.to_ne_bytes());
    header[8..12].copy_from_slice(&flags.to_ne_bytes());
    header[12..16].copy_from_slice(&flags.to_ne_bytes());
    header
}

/// Gives a device an address; `peer` is the address at the other end of a point-to-point link.
pub fn address(device: u32, local: Ipv4Addr, peer: Option<Ipv4Addr>) -> Message {
    let mut header = [libc::AF_INET as u8, 32, 0, 0, 0, 0, 0, 0];
    header[4..8].copy_from_slice(&device.to_ne_bytes());
    let flags = libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
    Message::new(libc::RTM_NEWADDR, flags, &header, format!("give device {device} the address {local}"))
        .with(libc::IFA_LOCAL, &local.octets())
        .with(libc::IFA_ADDRESS, &peer.unwrap_or(local).octets())
}

/// A route to one address, or to everything (`None`), out of a point-to-point device.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// Routing table.
    pub table: u32,
    /// Where to; `None` for the default route.
    pub destination: Option<Ipv4Addr>,
    /// Out of which device.
    pub device: u32,
    /// Address that local senders use.
    pub source: Option<Ipv4Addr>,
    /// How TCP behaves towards the destination.
    pub metrics: RouteMetrics,
}

impl Route {
    /// The request that sets this route.
    pub fn message(&self) -> Message {
        let bits = if self.destination.is_some() { 32 } else { 0 };
        // struct rtmsg: family, lengths, ToS, table, protocol, scope, type, flags.
        let mut header =
            [libc::AF_INET as u8, bits, 0, 0, 0, libc::RTPROT_STATIC, libc::RT_SCOPE_LINK, 0, 0, 0, 0, 0];
        header[7] = libc::RTN_UNICAST;
        let flags = libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
        let mut message = Message::new(libc::RTM_NEWROUTE, flags, &header, format!("set {self:?}"))
            .with(libc::RTA_TABLE, &self.table.to_ne_bytes())
            .with(libc::RTA_OIF, &self.device.to_ne_bytes());
        if let Some(destination) = self.destination {
            message = message.with(libc::RTA_DST, &destination.octets());
        }
        if let Some(source) = self.source {
            message = message.with(libc::RTA_PREFSRC, &source.octets());
        }
        if self.metrics == RouteMetrics::default() {
            return message;
        }
        let RouteMetrics { mss_bytes, initial_window_segments, min_rto_ms, quick_ack } = self.metrics;
        message.with_nested(libc::RTA_METRICS, |mut metrics| {
            if let Some(bytes) = mss_bytes {
                metrics = metrics.with(RTAX_ADVMSS, &bytes.to_ne_bytes());
            }
            if let Some(segments) = initial_window_segments {
                metrics = metrics.with(RTAX_INITCWND, &segments.to_ne_bytes());
            }
            if let Some(millis) = min_rto_ms {
                // The kernel heeds this one only when it is locked.
                metrics = metrics.with(RTAX_LOCK, &(1u32 << RTAX_RTO_MIN).to_ne_bytes());
                metrics = metrics.with(RTAX_RTO_MIN, &millis.to_ne_bytes());
            }
            if quick_ack {
                metrics = metrics.with(RTAX_QUICKACK, &1u32.to_ne_bytes());
            }
            metrics
        })
    }
}

// linux/rtnetlink.h
const RTAX_LOCK: u16 = 1;
const RTAX_ADVMSS: u16 = 8;
const RTAX_INITCWND: u16 = 11;
const RTAX_RTO_MIN: u16 = 13;
const RTAX_QUICKACK: u16 = 15;
/// `FRA_SRC`, `FRA_PRIORITY`, `FRA_TABLE` and `FR_ACT_TO_TBL` of linux/fib_rules.h.
const FRA_SRC: u16 = 2;
const FRA_PRIORITY: u16 = 6;
const FRA_TABLE: u16 = 15;
/// `FRA_OIFNAME` of the same.
const FRA_OIFNAME: u16 = 17;
const FR_ACT_TO_TBL: u8 = 1;

/// Looks packets from `source` up in `table` first.
pub fn rule_from(source: Ipv4Addr, table: u32, priority: u32) -> Message {
    let header = [libc::AF_INET as u8, 0, 32, 0, 0, 0, 0, FR_ACT_TO_TBL, 0, 0, 0, 0];
    let flags = libc::NLM_F_CREATE;
    Message::new(libc::RTM_NEWRULE, flags, &header, format!("look {source} up in table {table}"))
        .with(FRA_SRC, &source.octets())
        .with(FRA_PRIORITY, &priority.to_ne_bytes())
        .with(FRA_TABLE, &table.to_ne_bytes())
}

/// Looks packets that are bound to leave by `device` up in `table` first.
pub fn rule_out_of(device: &str, table: u32, priority: u32) -> Message {
    let header = [libc::AF_INET as u8, 0, 0, 0, 0, 0, 0, FR_ACT_TO_TBL, 0, 0, 0, 0];
    let name: Vec<u8> = device.bytes().chain([0]).collect();
    Message::new(libc::RTM_NEWRULE, libc::NLM_F_CREATE, &header, format!("look {device} up in table {table}"))
        .with(FRA_OIFNAME, &name)
        .with(FRA_PRIORITY, &priority.to_ne_bytes())
        .with(FRA_TABLE, &table.to_ne_bytes())
}

/// TCP settings that the kernel keeps with a route; `None` leaves the kernel's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RouteMetrics {
    /// Maximum segment size in bytes (RTAX_ADVMSS).
    pub mss_bytes: Option<u32>,
    /// Initial congestion window in segments (RTAX_INITCWND).
    pub initial_window_segments: Option<u32>,
    /// Minimum retransmission timeout in milliseconds (RTAX_RTO_MIN).
    pub min_rto_ms: Option<u32>,
    /// Acknowledge every segment at once (RTAX_QUICKACK).
    pub quick_ack: bool,
}
