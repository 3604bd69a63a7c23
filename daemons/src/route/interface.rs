//! A radio that is an interface of this host, an Ethernet or a wireless LAN: packets in frames with IP's EtherType,
//! beside the kernel, whose own packets are left alone.
use super::air::MAX_PACKET_BYTES;
use super::counters::Drops;
use super::neighbours::{Action, Neighbours};
use super::radio::{Heard, NeighbourReport, Outgoing, Radio, Sender};
use prismux_linux::event_loop::BATCH_PACKETS;
use prismux_linux::frame_socket::{FrameSocket, Interface, InterfaceError};
use prismux_linux::netconf::Prefix;
use prismux_linux::netlink;
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_routing::NextHop;
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use prismux_wire::ethernet::{ArpPacket, EthernetHeader, MacAddress, ether_type};
use std::collections::VecDeque;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};

/// The place of the socket for address resolution.
const ARP: usize = 1;

/// An interface, and who is on it.
pub(super) struct InterfaceRadio {
    interface: Interface,
    packets: FrameSocket,
    arp: FrameSocket,
    hears_all: bool,
    neighbours: Neighbours<PacketBuf>,
    mesh: Prefix,
    pool: PacketPool,
    heard: VecDeque<Heard>,
    buffer: Vec<u8>,
    frame: Vec<u8>,
}

impl InterfaceRadio {
    /// Begins to hear what comes over an interface.
    ///
    /// # Errors
    /// [`InterfaceError`]: not permitted, or the kernel's answer.
    pub fn open(
        mut interface: Interface,
        (address, mesh): (Ipv4Addr, Prefix),
        hears_all: bool,
        pool: PacketPool,
    ) -> Result<Self, InterfaceError> {
        let packets = FrameSocket::open(&interface, ether_type::IPV4, hears_all)?;
        let arp = FrameSocket::open(&interface, ether_type::ARP, false)?;
        match interface.take_apart() {
            Ok(true) => tracing::info!(interface = interface.name(), "receive offload is off meanwhile"),
            Ok(false) => {}
            Err(error) => tracing::debug!(interface = interface.name(), %error, "no offloads to switch"),
        }
        let mut neighbours = Neighbours::new(interface.address(), address);
        neighbours.announce();
        let mut radio = Self {
            interface,
            packets,
            arp,
            hears_all,
            neighbours,
            mesh,
            pool,
            heard: VecDeque::from([Heard::Ready]),
            buffer: vec![0; EthernetHeader::WIRE_BYTES + MAX_PACKET_BYTES],
            frame: Vec::new(),
        };
        radio.act(&mut Drops::default());
        Ok(radio)
    }

    /// A packet has come in a frame.
    fn take_packet(&mut self, header: &EthernetHeader, packet: PacketBuf) {
        let from = self.neighbours.host_of(header.source);
        let sender = from.map_or(Sender::Interface(header.source), Sender::Host);
        if header.destination == self.interface.address() || header.destination == MacAddress::BROADCAST {
            self.heard.push_back(Heard::Received(sender, packet));
        } else if self.hears_all
            && let (Some(from), Some(to)) = (from, self.neighbours.host_of(header.destination))
        {
            self.heard.push_back(Heard::Overheard([from, to], packet));
        }
    }

    /// A message of address resolution has come: others than those of the mesh are the kernel's affair.
    fn take_message(&mut self, now: Instant, message: &ArpPacket) {
        let sender = message.sender_address;
        if self.mesh.contains(sender.into()) || sender.is_unspecified() {
            self.neighbours.hear(now, message);
        }
    }

    /// Does what the neighbours' table wants done.
    fn act(&mut self, drops: &mut Drops) {
        while let Some(action) = self.neighbours.poll_action() {
            match action {
                Action::Say(to, message) => {
                    let mut bytes = [0; ArpPacket::WIRE_BYTES];
                    // It has room for a message.
                    let _ = message.emit(&mut bytes);
                    self.put_on_air(to, ether_type::ARP, &bytes, drops);
                }
                Action::Send(to, packet) => self.put_on_air(to, ether_type::IPV4, &packet, drops),
                Action::CrowdedOut(_) => drops.count(DropReason::Unresolved),
                Action::NotDelivered(neighbour, packet) => {
                    self.heard.push_back(Heard::NotDelivered(neighbour, packet));
                }
                Action::TakenBack(neighbour, packet) => {
                    self.heard.push_back(Heard::TakenBack(neighbour, packet));
                }
            }
        }
    }

    fn put_on_air(&mut self, to: MacAddress, ether_type: u16, packet: &[u8], drops: &mut Drops) {
        let header = EthernetHeader { destination: to, source: self.interface.address(), ether_type };
        self.frame.clear();
        self.frame.resize(EthernetHeader::WIRE_BYTES, 0);
        // It has room for a header.
        let _ = header.emit(&mut self.frame);
        self.frame.extend_from_slice(packet);
        let socket = if ether_type == ether_type::ARP { &self.arp } else { &self.packets };
        if let Err(error) = socket.write(&self.frame) {
            match error.raw_os_error() {
                Some(libc::EMSGSIZE) => drops.count(DropReason::TooLong),
                Some(libc::EAGAIN | libc::ENOBUFS) => drops.count(DropReason::SendBufferFull),
                _ => {
                    tracing::debug!(interface = self.interface.name(), %error, "a frame could not be sent");
                    drops.count(DropReason::SendFailed);
                }
            }
        }
    }
}

impl Radio for InterfaceRadio {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.packets.as_fd(), self.arp.as_fd()]
    }

    fn read(&mut self, index: usize, now: Instant, drops: &mut Drops) -> io::Result<()> {
        for _ in 0..BATCH_PACKETS {
            let socket = if index == ARP { &self.arp } else { &self.packets };
            let length = match socket.read(&mut self.buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.raw_os_error() == Some(libc::ENETDOWN) => {
                    // It is told once; frames come again when the interface is up.
                    tracing::warn!(interface = self.interface.name(), "the interface is down");
                    netlink::device_index(self.interface.name())?;
                    break;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let Some(frame) = self.buffer.get(..length) else {
                drops.count(DropReason::TooLong);
                continue;
            };
            let Ok(header) = EthernetHeader::parse(frame) else {
                drops.count(DropReason::MalformedPacket);
                continue;
            };
            let content = frame.get(EthernetHeader::WIRE_BYTES..).unwrap_or_default();
            if index == ARP {
                match ArpPacket::parse(content) {
                    Ok(message) => self.take_message(now, &message),
                    Err(_) => drops.count(DropReason::MalformedPacket),
                }
                continue;
            }
            match self.pool.copy_of(content) {
                Some(packet) => self.take_packet(&header, packet),
                None => drops.count(DropReason::TooLong),
            }
        }
        self.act(drops);
        Ok(())
    }

    fn poll_heard(&mut self) -> Option<Heard> {
        self.heard.pop_front()
    }

    fn send(&mut self, now: Instant, packet: Outgoing<'_>, drops: &mut Drops) {
        match packet.to {
            NextHop::Broadcast => {
                self.put_on_air(MacAddress::BROADCAST, ether_type::IPV4, packet.packet, drops);
            }
            NextHop::Neighbour(neighbour) => match self.pool.copy_of(packet.packet) {
                Some(packet) => {
                    self.neighbours.send(now, neighbour, packet);
                    self.act(drops);
                }
                None => drops.count(DropReason::TooLong),
            },
        }
    }

    fn learn(&mut self, now: Instant, interface: MacAddress, address: Ipv4Addr) {
        self.neighbours.learn(now, interface, address);
    }

    fn deadline(&self) -> Option<Instant> {
        self.neighbours.deadline()
    }

    fn expire(&mut self, now: Instant, drops: &mut Drops) {
        self.neighbours.expire(now);
        self.act(drops);
    }

    fn neighbours(&self, now: Instant) -> Option<Vec<NeighbourReport>> {
        Some(self.neighbours.report(now))
    }
}
