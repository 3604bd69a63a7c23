//! An air that somebody else works out, such as a lab's: messages in packets of a Unix socket (`SOCK_SEQPACKET`).
//!
//! ```text
//!   daemon: 1 send        priority (1), neighbour or 255.255.255.255 (4), bytes it is counted for (4), packet
//!           2 taken       packet from the kernel        } for a log of the run,
//!           3 dropped     reason (1), packet            } where one is kept
//!           4 hello       version (1): it begins, and wants to know when the air works
//!           5 bye         it has ended: the radio is off until another hello
//!   air:    1 ready       version (1), whether a log is kept (1)
//!           2 received    from (4), packet
//!           3 overheard   from (4), to (4), packet
//!           4 not delivered   neighbour (4), packet
//!           5 taken back      neighbour (4), packet
//! ```
//!
//! Each begins with its number in one byte; numbers of several bytes are in network order.
use super::counters::Drops;
use super::radio::{Heard, Outgoing, Priority, Radio, Sender};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, recv, send, setsockopt, socketpair, sockopt,
};
use prismux_linux::event_loop::BATCH_PACKETS;
use prismux_linux::packet::PacketPool;
use prismux_routing::NextHop;
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use prismux_wire::fields::Reader;
use std::collections::VecDeque;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The version of these messages.
pub const VERSION: u8 = 1;
/// Bytes of the longest packet, headers of the protocol included.
pub const MAX_PACKET_BYTES: usize = 4096;
/// Bytes of the longest message.
pub const MAX_MESSAGE_BYTES: usize = MAX_PACKET_BYTES + 10;

/// What a daemon says to the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToAir<'a> {
    /// A packet for a neighbour, or for all.
    Send {
        /// Where it stands in the interface queue.
        priority: Priority,
        /// Whom it is for.
        to: NextHop,
        /// What it is counted for.
        counted_bytes: u32,
        /// The packet.
        packet: &'a [u8],
    },
    /// The host's kernel has handed this packet to the daemon.
    Taken(&'a [u8]),
    /// The routing protocol has dropped this packet.
    Dropped(DropReason, &'a [u8]),
    /// A daemon begins that speaks this version. It takes no notice of anything before the air is ready.
    Hello(u8),
    /// The daemon has ended.
    Bye,
}

/// What the air says to a daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FromAir<'a> {
    /// It works from now on.
    Ready {
        /// Of the messages.
        version: u8,
        /// Whether packets that are taken or dropped are to be told of.
        keeps_log: bool,
    },
    /// A packet for the host, or for all.
    Received(Ipv4Addr, &'a [u8]),
    /// A packet between others: from the first for the second.
    Overheard(Ipv4Addr, Ipv4Addr, &'a [u8]),
    /// A neighbour did not take this packet.
    NotDelivered(Ipv4Addr, &'a [u8]),
    /// A packet that waited for a neighbour which no longer answers.
    TakenBack(Ipv4Addr, &'a [u8]),
}

/// Reasons by their numbers: those that a routing protocol has.
const REASONS: [DropReason; 8] = [
    DropReason::NoRoute,
    DropReason::BufferFull,
    DropReason::BufferTimeout,
    DropReason::HopLimit,
    DropReason::Unanswered,
    DropReason::BadRoute,
    DropReason::NotAdmitted,
    DropReason::TooLong,
];

const PRIORITIES: [Priority; 3] = [Priority::Routing, Priority::Acknowledgement, Priority::Normal];

/// The place of a value in a list; 255 where it is none.
fn number_of<T: PartialEq>(values: &[T], value: &T) -> u8 {
    values.iter().position(|known| known == value).and_then(|place| u8::try_from(place).ok()).unwrap_or(255)
}

/// Begins a message anew.
fn begin<'a>(kind: u8, parts: impl IntoIterator<Item = &'a [u8]>, out: &mut Vec<u8>) {
    out.clear();
    out.push(kind);
    parts.into_iter().for_each(|part| out.extend_from_slice(part));
}

fn address(fields: &mut Reader<'_>) -> Option<Ipv4Addr> {
    fields.array::<4>().ok().map(Ipv4Addr::from)
}

impl<'a> ToAir<'a> {
    /// Writes the message to `out`, which it clears.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Send { priority, to, counted_bytes, packet } => {
                let to = match to {
                    NextHop::Neighbour(neighbour) => neighbour,
                    NextHop::Broadcast => Ipv4Addr::BROADCAST,
                };
                let priority = number_of(&PRIORITIES, &priority);
                begin(1, [&[priority][..], &to.octets(), &counted_bytes.to_be_bytes(), packet], out);
            }
            Self::Taken(packet) => begin(2, [packet], out),
            Self::Dropped(reason, packet) => begin(3, [&[number_of(&REASONS, &reason)][..], packet], out),
            Self::Hello(version) => begin(4, [&[version][..]], out),
            Self::Bye => begin(5, [], out),
        }
    }

    /// Reads a message; `None` where it is none.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut fields = Reader::new(bytes);
        Some(match fields.u8().ok()? {
            1 => {
                let priority = *PRIORITIES.get(usize::from(fields.u8().ok()?))?;
                let to = match address(&mut fields)? {
                    Ipv4Addr::BROADCAST => NextHop::Broadcast,
                    neighbour => NextHop::Neighbour(neighbour),
                };
                let counted_bytes = fields.u32().ok()?;
                Self::Send { priority, to, counted_bytes, packet: fields.rest() }
            }
            2 => Self::Taken(fields.rest()),
            3 => {
                let reason = *REASONS.get(usize::from(fields.u8().ok()?))?;
                Self::Dropped(reason, fields.rest())
            }
            4 => Self::Hello(fields.u8().ok()?),
            5 => Self::Bye,
            _ => return None,
        })
    }
}

impl<'a> FromAir<'a> {
    /// Writes the message to `out`, which it clears.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Ready { version, keeps_log } => begin(1, [&[version, u8::from(keeps_log)][..]], out),
            Self::Received(from, packet) => begin(2, [&from.octets()[..], packet], out),
            Self::Overheard(from, to, packet) => begin(3, [&from.octets()[..], &to.octets(), packet], out),
            Self::NotDelivered(neighbour, packet) => begin(4, [&neighbour.octets()[..], packet], out),
            Self::TakenBack(neighbour, packet) => begin(5, [&neighbour.octets()[..], packet], out),
        }
    }

    /// Reads a message; `None` where it is none.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut fields = Reader::new(bytes);
        Some(match fields.u8().ok()? {
            1 => Self::Ready { version: fields.u8().ok()?, keeps_log: fields.u8().ok()? != 0 },
            2 => Self::Received(address(&mut fields)?, fields.rest()),
            3 => Self::Overheard(address(&mut fields)?, address(&mut fields)?, fields.rest()),
            4 => Self::NotDelivered(address(&mut fields)?, fields.rest()),
            5 => Self::TakenBack(address(&mut fields)?, fields.rest()),
            _ => return None,
        })
    }
}

/// One end of the socket between air and daemon, which does not wait.
#[derive(Debug)]
pub struct MessageSocket(OwnedFd);

impl MessageSocket {
    /// Bytes of messages that may lie in the socket; the kernel may allow less.
    const BUFFER_BYTES: usize = 1 << 20;

    /// Both ends.
    ///
    /// # Errors
    /// When the kernel has no descriptor left.
    pub fn pair() -> io::Result<(Self, Self)> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let (one, other) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)?;
        Ok((Self::of(one), Self::of(other)))
    }

    /// The end that is this process's standard input.
    ///
    /// # Errors
    /// When it is no such socket.
    pub fn standard_input() -> io::Result<Self> {
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        match nix::sys::socket::getsockopt(&input, sockopt::SockType) {
            Ok(SockType::SeqPacket) => Ok(Self::of(input)),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn of(socket: OwnedFd) -> Self {
        // Less room is enough where the kernel allows no more.
        let _ = setsockopt(&socket, sockopt::SndBuf, &Self::BUFFER_BYTES);
        Self(socket)
    }

    /// The descriptor itself, for the process that is to have it.
    pub fn into_descriptor(self) -> OwnedFd {
        self.0
    }

    /// Reads one message into `buffer`; `None` when there is none, an empty one when the other end is gone.
    ///
    /// # Errors
    /// The kernel's, see recv(2).
    pub fn read<'a>(&self, buffer: &'a mut [u8]) -> io::Result<Option<&'a [u8]>> {
        match recv(self.0.as_raw_fd(), buffer, MsgFlags::MSG_DONTWAIT) {
            Ok(length) => Ok(Some(buffer.get(..length).unwrap_or_default())),
            Err(nix::Error::EAGAIN | nix::Error::EINTR) => Ok(None),
            Err(nix::Error::ECONNRESET) => Ok(Some(&[])),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends one message, or says that there was no room for it, or nobody at the other end.
    pub fn write(&self, message: &[u8]) -> bool {
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
        send(self.0.as_raw_fd(), message, flags).is_ok()
    }
}

impl AsFd for MessageSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The daemon's side.
pub(super) struct AirRadio {
    socket: MessageSocket,
    pool: PacketPool,
    heard: VecDeque<Heard>,
    is_ready: bool,
    keeps_log: bool,
    buffer: Vec<u8>,
    message: Vec<u8>,
}

impl AirRadio {
    pub fn new(socket: MessageSocket, pool: PacketPool) -> Self {
        let buffer = vec![0; MAX_MESSAGE_BYTES];
        let (heard, message) = (VecDeque::new(), Vec::new());
        let mut radio = Self { socket, pool, heard, is_ready: false, keeps_log: false, buffer, message };
        radio.tell(ToAir::Hello(VERSION));
        radio
    }

    fn tell(&mut self, message: ToAir<'_>) -> bool {
        message.emit(&mut self.message);
        self.socket.write(&self.message)
    }
}

impl Radio for AirRadio {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.socket.as_fd()]
    }

    fn read(&mut self, _: usize, _: Instant, drops: &mut Drops) -> io::Result<()> {
        for _ in 0..BATCH_PACKETS {
            let Some(message) = self.socket.read(&mut self.buffer)? else { return Ok(()) };
            if message.is_empty() {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the air is gone"));
            }
            let copied = |packet: &[u8]| self.pool.copy_of(packet).ok_or(DropReason::TooLong);
            let heard = match FromAir::parse(message) {
                Some(FromAir::Ready { version: VERSION, keeps_log }) => {
                    (self.is_ready, self.keeps_log) = (true, keeps_log);
                    Ok(Heard::Ready)
                }
                Some(FromAir::Ready { version, .. }) => {
                    let error = format!("the air speaks version {version}, this daemon {VERSION}");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, error));
                }
                // Of the time before it began.
                Some(_) if !self.is_ready => continue,
                Some(FromAir::Received(from, packet)) => {
                    copied(packet).map(|packet| Heard::Received(Sender::Host(from), packet))
                }
                Some(FromAir::Overheard(from, to, packet)) => {
                    copied(packet).map(|packet| Heard::Overheard([from, to], packet))
                }
                Some(FromAir::NotDelivered(neighbour, packet)) => {
                    copied(packet).map(|packet| Heard::NotDelivered(neighbour, packet))
                }
                Some(FromAir::TakenBack(neighbour, packet)) => {
                    copied(packet).map(|packet| Heard::TakenBack(neighbour, packet))
                }
                None => Err(DropReason::MalformedPacket),
            };
            match heard {
                Ok(heard) => self.heard.push_back(heard),
                Err(reason) => drops.count(reason),
            }
        }
        Ok(())
    }

    fn poll_heard(&mut self) -> Option<Heard> {
        self.heard.pop_front()
    }

    fn send(&mut self, _: Instant, packet: Outgoing<'_>, drops: &mut Drops) {
        let Outgoing { to, priority, counted_bytes, packet } = packet;
        if !self.tell(ToAir::Send { priority, to, counted_bytes, packet }) {
            drops.count(DropReason::SendBufferFull);
        }
    }

    fn note_taken(&mut self, packet: &[u8]) {
        if self.keeps_log {
            self.tell(ToAir::Taken(packet));
        }
    }

    fn note_dropped(&mut self, reason: DropReason, packet: &[u8]) {
        if self.keeps_log {
            self.tell(ToAir::Dropped(reason, packet));
        }
    }
}

impl Drop for AirRadio {
    fn drop(&mut self) {
        self.tell(ToAir::Bye);
    }
}

#[cfg(test)]
mod tests;
