//! Datagrams out: many for each system call, those of one flow as one where the kernel cuts them again.
use super::control::Control;
use super::{kernel_address, socket_address, zeroed_message};
use crate::packet::PacketBuf;
use crate::socket_option;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::ptr;

/// Longest header in front of a packet, in bytes.
pub const MAX_HEADER_BYTES: usize = 12;

/// Datagrams that may leave as one, at most; older kernels cut no more.
const MAX_JOINED: usize = 64;

/// Bytes that may leave as one, at most: what a UDP datagram over IPv4 with options holds.
const MAX_JOINED_BYTES: usize = 65_000;

/// One datagram to be sent: a short header and the packet behind it.
struct Outgoing {
    destination: SocketAddr,
    to: libc::sockaddr_storage,
    to_bytes: libc::socklen_t,
    header: [u8; MAX_HEADER_BYTES],
    header_bytes: usize,
    packet: PacketBuf,
    control: Control,
    control_bytes: usize,
    /// The run that it belongs to.
    run: usize,
}

/// Datagrams that leave as one: all of one length but the last, which may be shorter.
struct Run {
    /// The first of them, in the queue.
    leader: usize,
    count: usize,
    bytes: usize,
    segment_bytes: usize,
    is_closed: bool,
    /// Its place among the vectors.
    vectors_at: usize,
}

/// Collects datagrams and sends them with one system call.
pub struct BatchSender {
    queue: Vec<Outgoing>,
    runs: Vec<Run>,
    vectors: Vec<[libc::iovec; 2]>,
    messages: Vec<libc::mmsghdr>,
    /// The kernel cuts what is joined.
    may_join: bool,
}

impl BatchSender {
    /// Room for `batch` datagrams.
    pub fn new(batch: usize) -> Self {
        let empty = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
        Self {
            queue: Vec::with_capacity(batch),
            runs: Vec::with_capacity(batch),
            vectors: vec![[empty; 2]; batch],
            messages: vec![zeroed_message(); batch],
            may_join: false,
        }
    }

    /// The same for a UDP socket, by which datagrams to one address leave as one where the kernel cuts them again.
    pub fn joining(socket: impl AsFd, batch: usize) -> Self {
        // An older kernel would send the one long datagram.
        let may_join = socket_option::set(socket, libc::SOL_UDP, libc::UDP_SEGMENT, 0).is_ok();
        Self { may_join, ..Self::new(batch) }
    }

    /// True when the next [`BatchSender::push`] needs a [`BatchSender::flush`] first.
    pub fn is_full(&self) -> bool {
        self.queue.len() == self.messages.len()
    }

    /// Queues `header`, at most [`MAX_HEADER_BYTES`] of it, followed by `packet` for `to`, with the given traffic
    /// class (DSCP and ECN) in the IP header. Must not be called when full.
    pub fn push(&mut self, to: SocketAddr, traffic_class: u8, header: &[u8], packet: PacketBuf) {
        self.push_from(None, to, traffic_class, header, packet);
    }

    /// The same from one of this host's addresses, in place of the one that the kernel would choose.
    pub fn push_from(
        &mut self,
        from: Option<IpAddr>,
        destination: SocketAddr,
        traffic_class: u8,
        header: &[u8],
        packet: PacketBuf,
    ) {
        assert!(!self.is_full(), "a full batch is flushed before the next datagram is queued");
        let header_bytes = header.len().min(MAX_HEADER_BYTES);
        let mut room = [0; MAX_HEADER_BYTES];
        room[..header_bytes].copy_from_slice(&header[..header_bytes]);
        let is_ipv4 = destination.ip().to_canonical().is_ipv4();
        let (to, to_bytes) = kernel_address(destination);
        let mut control = Control::EMPTY;
        let control_bytes = control.write(is_ipv4, traffic_class, from);
        let mut outgoing = Outgoing {
            destination,
            to,
            to_bytes,
            header: room,
            header_bytes,
            packet,
            control,
            control_bytes,
            run: 0,
        };
        outgoing.run = self.run_for(&outgoing);
        self.queue.push(outgoing);
    }

    /// The run that takes a datagram: the last to its destination, or a new one.
    fn run_for(&mut self, outgoing: &Outgoing) -> usize {
        let bytes = outgoing.bytes();
        let (queue, may_join) = (&self.queue, self.may_join);
        let is_alike = |run: &Run| queue.get(run.leader).is_some_and(|leader| leader.is_alike(outgoing));
        let last = if may_join { self.runs.iter().rposition(is_alike) } else { None };
        if let Some(place) = last
            && let Some(run) = self.runs.get_mut(place)
            && run.takes(bytes)
        {
            run.count += 1;
            run.bytes += bytes;
            run.is_closed = bytes < run.segment_bytes;
            return place;
        }
        let (leader, is_closed) = (self.queue.len(), bytes == 0);
        self.runs.push(Run { leader, count: 1, bytes, segment_bytes: bytes, is_closed, vectors_at: 0 });
        self.runs.len() - 1
    }

    /// Sends everything queued. Calls `failed` for each datagram that the kernel would not take, with the error and
    /// the address; [`io::ErrorKind::WouldBlock`] means that the socket's send buffer is full.
    pub fn flush(&mut self, socket: impl AsFd, mut failed: impl FnMut(io::Error, SocketAddr, PacketBuf)) {
        self.lay_out();
        let (count, socket) = (self.runs.len(), socket.as_fd().as_raw_fd());
        let mut done = 0;
        while done < count {
            // SAFETY: the messages from `done` to `count` were set up by `lay_out`; what they point to lives in `queue`
            // and `vectors`, neither of which changes before the loop ends. The kernel only reads through them.
            let sent = unsafe {
                libc::sendmmsg(
                    socket,
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
            self.run_failed(done, socket, error, &mut failed);
            done += 1;
        }
        self.queue.clear();
        self.runs.clear();
    }

    /// The kernel does not take a run: its datagrams are sent one by one, since one of them, or the joining, may be all
    /// that it minds.
    fn run_failed(
        &mut self,
        run: usize,
        socket: libc::c_int,
        error: io::Error,
        failed: &mut impl FnMut(io::Error, SocketAddr, PacketBuf),
    ) {
        let mut tell = |outgoing: &Outgoing, error| {
            if let Some(to) = socket_address(&outgoing.to) {
                failed(error, to, outgoing.packet.clone());
            }
        };
        let Run { leader, count, .. } = self.runs[run];
        if count == 1 {
            return tell(&self.queue[leader], error);
        }
        // The device, or the kernel, cannot cut.
        if matches!(error.raw_os_error(), Some(libc::EIO | libc::EOPNOTSUPP)) {
            tracing::info!(%error, "datagrams leave one by one from now on");
            self.may_join = false;
        }
        for outgoing in self.queue.iter_mut().filter(|outgoing| outgoing.run == run) {
            if let Err(error) = outgoing.send_alone(socket) {
                tell(outgoing, error);
            }
        }
    }

    /// Sets up a message for each run.
    fn lay_out(&mut self) {
        let mut vectors_at = 0;
        for run in &mut self.runs {
            run.vectors_at = vectors_at;
            vectors_at += run.count;
        }
        for outgoing in &mut self.queue {
            let run = &mut self.runs[outgoing.run];
            self.vectors[run.vectors_at] = outgoing.vectors();
            run.vectors_at += 1;
        }
        for (run, message) in self.runs.iter().zip(&mut self.messages) {
            let leader = &mut self.queue[run.leader];
            let mut control_bytes = leader.control_bytes;
            if run.count > 1 {
                control_bytes = leader.control.write_segment_bytes(control_bytes, run.segment_bytes as u16);
            }
            let vectors = &mut self.vectors[run.vectors_at - run.count..run.vectors_at];
            leader.address(&mut message.msg_hdr, control_bytes);
            message.msg_hdr.msg_iov = vectors.as_mut_ptr().cast();
            message.msg_hdr.msg_iovlen = (2 * vectors.len()) as _;
        }
    }
}

impl Run {
    /// Whether it takes one more datagram.
    const fn takes(&self, bytes: usize) -> bool {
        let has_room = self.count < MAX_JOINED && self.bytes + bytes <= MAX_JOINED_BYTES;
        !self.is_closed && has_room && bytes > 0 && bytes <= self.segment_bytes
    }
}

impl Outgoing {
    fn bytes(&self) -> usize {
        self.header_bytes + self.packet.len()
    }

    /// Whether both go from and to the same addresses with the same marks.
    fn is_alike(&self, other: &Self) -> bool {
        self.destination == other.destination && self.marks() == other.marks()
    }

    /// Traffic class and source address, as control messages.
    fn marks(&self) -> &[u8] {
        self.control.bytes(self.control_bytes)
    }

    fn vectors(&mut self) -> [libc::iovec; 2] {
        let packet = self.packet.as_ptr().cast_mut().cast();
        [
            libc::iovec { iov_base: self.header.as_mut_ptr().cast(), iov_len: self.header_bytes },
            libc::iovec { iov_base: packet, iov_len: self.packet.len() },
        ]
    }

    /// Writes where it goes, and by which marks, to a message.
    fn address(&mut self, message: &mut libc::msghdr, control_bytes: usize) {
        message.msg_name = ptr::from_mut(&mut self.to).cast();
        message.msg_namelen = self.to_bytes;
        message.msg_control = match control_bytes {
            0 => ptr::null_mut(),
            _ => self.control.as_mut_ptr(),
        };
        message.msg_controllen = control_bytes as _;
    }

    fn send_alone(&mut self, socket: libc::c_int) -> io::Result<()> {
        let mut vectors = self.vectors();
        let mut message = zeroed_message().msg_hdr;
        self.address(&mut message, self.control_bytes);
        message.msg_iov = vectors.as_mut_ptr();
        message.msg_iovlen = vectors.len() as _;
        // SAFETY: the message points to `vectors` and into `self`, which outlive the call; the kernel only reads.
        let sent = unsafe { libc::sendmsg(socket, &message, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}
