//! The socket by which the kernel tells of links and addresses.
use super::estimates::Estimates;
use super::news::{LinkNews, read_news};
use super::table::{InterfaceTable, Move};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, send, socket,
};
use prismux_tcp_ho::notice_of;
use prismux_units::Rate;
use prismux_wire::HandoffNotice;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The kernel's messages are shorter; a longer one would be cut and counted as unreadable.
const BUFFER_BYTES: usize = 64 * 1024;
const GROUPS: i32 = libc::RTMGRP_LINK | libc::RTMGRP_IPV4_IFADDR | libc::RTMGRP_IPV6_IFADDR;

/// A handoff that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handoff {
    /// The interface that can be used now.
    pub interface: String,
    /// Our address there.
    pub address: IpAddr,
    /// What the interface is believed to carry.
    pub bandwidth: Option<Rate>,
}

impl Handoff {
    /// What the peers shall be told.
    pub fn notice(&self) -> HandoffNotice {
        notice_of(self.bandwidth)
    }
}

/// What a watch counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WatchCounters {
    /// Messages that could not be read.
    pub unreadable: u64,
    /// Times the kernel had more news than the socket could hold; the whole was asked for again then.
    pub overruns: u64,
}

/// Listens in the network namespace of the thread that opens it.
#[derive(Debug)]
pub struct LinkWatch {
    socket: OwnedFd,
    table: InterfaceTable,
    estimates: Estimates,
    counters: WatchCounters,
}

impl LinkWatch {
    /// Begins to listen. What is there already is no handoff.
    ///
    /// # Errors
    /// When the kernel refuses the socket or the questions.
    pub fn open(estimates: Estimates) -> io::Result<Self> {
        let socket = route_socket(SockFlag::SOCK_NONBLOCK, GROUPS as u32)?;
        let mut watch =
            Self { socket, table: InterfaceTable::default(), estimates, counters: WatchCounters::default() };
        watch.table = watch.look_around()?;
        Ok(watch)
    }

    /// Everything that has completed since the last call. Never waits: poll the descriptor first.
    ///
    /// # Errors
    /// When the socket fails.
    pub fn handoffs(&mut self) -> io::Result<Vec<Handoff>> {
        let moves = self.moves()?;
        let complete = |step: Move| match step {
            Move::Complete { interface, address } => {
                let bandwidth = self.estimates.of(&interface);
                Some(Handoff { interface, address, bandwidth })
            }
            Move::Lost { .. } => None,
        };
        Ok(moves.into_iter().filter_map(complete).collect())
    }

    /// The same, with the interfaces that were lost.
    ///
    /// # Errors
    /// When the socket fails.
    pub fn moves(&mut self) -> io::Result<Vec<Move>> {
        let mut moves = Vec::new();
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            match recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
                Ok(0) | Err(Errno::EAGAIN) => return Ok(moves),
                Ok(length) => {
                    for news in read_news(&buffer[..length], &mut self.counters.unreadable) {
                        moves.extend(self.table.take(news));
                    }
                }
                Err(Errno::EINTR) => {}
                Err(Errno::ENOBUFS) => {
                    self.counters.overruns += 1;
                    let now = self.look_around()?;
                    moves.extend(self.table.replace(now));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Names of the interfaces that can be used now.
    pub fn usable(&self) -> impl Iterator<Item = &str> {
        self.table.usable()
    }

    /// What was counted so far.
    pub fn counters(&self) -> WatchCounters {
        self.counters
    }

    /// All interfaces and addresses as of now.
    fn look_around(&mut self) -> io::Result<InterfaceTable> {
        let socket = route_socket(SockFlag::empty(), 0)?;
        let mut table = InterfaceTable::default();
        for (kind, family_header_bytes) in [(libc::RTM_GETLINK, 16), (libc::RTM_GETADDR, 8)] {
            send(socket.as_raw_fd(), &question(kind, family_header_bytes), MsgFlags::empty())?;
            let mut buffer = vec![0; BUFFER_BYTES];
            let mut done = false;
            while !done {
                let length = recv(socket.as_raw_fd(), &mut buffer, MsgFlags::empty())?;
                for news in read_news(&buffer[..length], &mut self.counters.unreadable) {
                    match news {
                        LinkNews::Done => done = true,
                        LinkNews::Refused(code) => return Err(io::Error::from_raw_os_error(code)),
                        news => {
                            table.take(news);
                        }
                    }
                }
            }
        }
        Ok(table)
    }
}

impl AsFd for LinkWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn route_socket(flags: SockFlag, groups: u32) -> io::Result<OwnedFd> {
    let flags = flags | SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRoute)?;
    bind(socket.as_raw_fd(), &NetlinkAddr::new(0, groups))?;
    Ok(socket)
}

/// A request for everything of a kind.
fn question(kind: u16, family_header_bytes: usize) -> Vec<u8> {
    let mut message = vec![0; 16 + family_header_bytes];
    let length = message.len() as u32;
    message[..4].copy_from_slice(&length.to_ne_bytes());
    message[4..6].copy_from_slice(&kind.to_ne_bytes());
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    message[6..8].copy_from_slice(&flags.to_ne_bytes());
    message
}
