//! Members nearby that stand in for this one while its uplink is silent, and for which it does.
//!
//! What neighbours hand over travels in a plain tunnel of its own between them, and goes out as what receivers send:
//! from a receiver, and to nobody behind this member. It is never handed on to another neighbour.
use super::Member;
use super::registration::State;
use crate::config::MemberConfig;
use crate::counters::DropCounters;
use crate::daemon::{self, DaemonError, Wakes};
use crate::device;
use crate::tunnel::control::{self, Message, Probe, Token};
use crate::tunnel::socket::{self, Frame, SocketOptions, TunnelReceiver, TunnelSender};
use crate::tunnel::{Peer, Transport};
use crate::workers::Workers;
use prismux_linux::offload::OffloadTun;
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_receipts::{Question, UNANSWERED, WayBack, WayBackEvent};
use prismux_trace::event::{DropReason, LinkState};
use prismux_units::Instant;
use prismux_wire::gre::ether_type;
use prismux_wire::{Ecn, GreHeader, IpPacket};
use serde::Serialize;
use std::io;

/// Members call themselves this in what they ask.
const ASKER: u64 = 1;

/// The neighbours of a member, and the tunnel to them.
pub(super) struct Neighbours {
    pub way: WayBack,
    peers: Vec<Peer>,
    token: Token,
    /// Taken out while its frames are handled.
    receiver: Option<TunnelReceiver>,
    sender: TunnelSender,
    counters: Counters,
}

/// Packets of receivers.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Counters {
    /// Handed to a neighbour.
    handed_over_packets: u64,
    /// Taken from one.
    stood_in_packets: u64,
}

/// What the status page says.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    members: Vec<String>,
    /// The proxy does not answer over this member's own uplink.
    is_silent: bool,
    #[serde(flatten)]
    counters: Counters,
}

impl Neighbours {
    /// Opens the tunnel to the neighbours, where there are any. Questions have numbers above `first`.
    ///
    /// # Errors
    /// [`DaemonError`]: the token that is missing, or the socket that cannot be opened.
    pub fn open(
        config: &MemberConfig,
        inner_mtu_bytes: usize,
        first: u64,
    ) -> Result<Option<Self>, DaemonError> {
        let Some(neighbours) = &config.neighbours else { return Ok(None) };
        let token = config.read_neighbours_token().map_err(DaemonError::Config)?;
        let options =
            SocketOptions { local: Some(neighbours.local), device: neighbours.device.clone(), mark: None };
        let (receiver, sender) =
            socket::open(Transport::Udp, &options, inner_mtu_bytes, None, &Workers::none())?;
        let peer = |&address| Peer { transport: Transport::Udp, address, number: 0 };
        let peers: Vec<Peer> = neighbours.members.iter().map(peer).collect();
        let mut way = WayBack::new(peers.len(), first);
        way.unregistered(Instant::ZERO);
        // It has not fallen silent: nobody has called yet.
        while way.poll_event().is_some() {}
        let counters = Counters::default();
        Ok(Some(Self { way, peers, token, receiver: Some(receiver), sender, counters }))
    }

    /// Has the loop watch the sockets: that of the proxy, and that of the neighbours.
    ///
    /// # Errors
    /// When the kernel has no room for another descriptor.
    pub fn watch(
        this: Option<&Self>,
        wakes: &Wakes<'_>,
        tun: &OffloadTun,
        receiver: &TunnelReceiver,
    ) -> io::Result<()> {
        let of_neighbours = this.and_then(|neighbours| neighbours.receiver.as_ref());
        wakes.watch(tun, &[Some(receiver), of_neighbours].into_iter().flatten().collect::<Vec<_>>())
    }

    /// Queues a packet for the neighbour `index`.
    fn push(&mut self, index: usize, header: &GreHeader, ecn: Ecn, packet: PacketBuf) {
        if let Some(&peer) = self.peers.get(index) {
            self.sender.push(peer, header, ecn, packet);
        }
    }

    fn send_control(&mut self, index: usize, message: &Message, pool: &PacketPool) {
        if let Some(packet) = pool.copy_of(&message.emit(&self.token)) {
            self.push(index, &GreHeader::plain(control::PROTOCOL_TYPE), Ecn::NotEct, packet);
        }
    }

    /// Sends everything that is queued.
    pub fn flush(&mut self, device: (&OffloadTun, &PacketPool), drops: &mut DropCounters) {
        let overhead_bytes = self.peers.first().map_or(0, Peer::overhead_bytes);
        self.sender.flush(|error, to, packet| {
            daemon::send_failed(&error, to, packet, overhead_bytes, device, drops);
        });
    }

    pub fn report(&self) -> Report {
        Report {
            members: self.peers.iter().map(|peer| peer.address.to_string()).collect(),
            is_silent: self.way.is_silent(),
            counters: self.counters,
        }
    }
}

impl Member {
    /// A packet of a receiver goes to a neighbour, or comes back to take this member's own link.
    pub(super) fn hand_over(
        &mut self,
        now: Instant,
        header: &GreHeader,
        ecn: Ecn,
        packet: PacketBuf,
    ) -> Option<PacketBuf> {
        let index = self.neighbours.as_mut().and_then(|neighbours| neighbours.way.way(now));
        if let (Some(index), Some(neighbours)) = (index, &mut self.neighbours) {
            if neighbours.sender.is_full() {
                neighbours.flush((&self.tun, &self.pool), &mut self.drops);
            }
            neighbours.counters.handed_over_packets += 1;
            neighbours.push(index, header, ecn, packet);
            return None;
        }
        Some(packet)
    }

    /// Asks the proxy and the neighbours what is due, and tells what has become of the link.
    pub(super) fn ask(&mut self, now: Instant) {
        let registered = self.registration.state() == State::Registered;
        if let (Some(neighbours), false) = (&mut self.neighbours, registered) {
            neighbours.way.unregistered(now);
        }
        while let Some(question) = self.neighbours.as_mut().and_then(|of| of.way.poll_question(now)) {
            match question {
                Question::Proxy { number } => {
                    self.send_control(&Message::Probe(Probe { asker: ASKER, number }));
                }
                Question::Neighbour { index, number } => {
                    if let Some(neighbours) = &mut self.neighbours {
                        let question = Message::Probe(Probe { asker: ASKER, number });
                        neighbours.send_control(index, &question, &self.pool);
                    }
                }
            }
        }
        while let Some(event) = self.neighbours.as_mut().and_then(|of| of.way.poll_event()) {
            match event {
                WayBackEvent::Silent => self.tell_state(now, LinkState::Silent, UNANSWERED),
                WayBackEvent::Answers => self.tell_state(now, LinkState::Active, "the proxy answers"),
            }
        }
    }

    /// The proxy has answered a question.
    pub(super) fn proxy_answered(&mut self, now: Instant, probe: Probe) -> Result<(), DropReason> {
        let neighbours = self.neighbours.as_mut().filter(|_| probe.asker == ASKER);
        neighbours.ok_or(DropReason::MalformedControl)?.way.answered(now, probe.number);
        self.ask(now);
        Ok(())
    }

    /// One batch from neighbours.
    pub(super) fn read_neighbours(&mut self, now: Instant) -> io::Result<()> {
        let taken = self.neighbours.as_mut().and_then(|neighbours| neighbours.receiver.take());
        let Some(mut receiver) = taken else { return Ok(()) };
        let received = receiver.receive(&mut |frame| {
            let handled = match frame {
                Ok(frame) => self.neighbour_frame(now, &frame),
                Err(error) => Err(error.reason()),
            };
            if let Err(reason) = handled {
                self.drops.count(reason);
            }
        });
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.receiver = Some(receiver);
        }
        self.ask(now);
        received
    }

    fn neighbour_frame(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), DropReason> {
        let Some(neighbours) = &mut self.neighbours else { return Ok(()) };
        let index = neighbours.peers.iter().position(|peer| frame.peer.is_same_end(peer));
        let index = index.ok_or(DropReason::UnknownPeer)?;
        match frame.protocol {
            control::PROTOCOL_TYPE => match Message::parse(frame.inner, &neighbours.token) {
                Ok(Message::Probe(probe)) if probe.asker == ASKER => {
                    if neighbours.way.asked(now) && self.departure.is_none() {
                        neighbours.send_control(index, &Message::Echo(probe), &self.pool);
                    }
                    Ok(())
                }
                Ok(Message::Echo(probe)) if probe.asker == ASKER => {
                    neighbours.way.neighbour_answered(now, index, probe.number);
                    Ok(())
                }
                Err(control::ControlError::BadTag) => Err(DropReason::BadToken),
                Ok(_) | Err(control::ControlError::Malformed) => Err(DropReason::MalformedControl),
            },
            ether_type::IPV4 | ether_type::IPV6 => self.stand_in(now, frame),
            _ => Err(DropReason::OtherProtocol),
        }
    }

    /// A neighbour has handed over what a receiver sent.
    fn stand_in(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), DropReason> {
        let ip = IpPacket::parse(frame.inner).map_err(|_| DropReason::MalformedPacket)?;
        let inner = frame.inner.get(..ip.total_bytes).ok_or(DropReason::MalformedPacket)?;
        if !self.is_receiver(ip.header.source) {
            return Err(DropReason::ForeignSource);
        }
        if self.is_receiver(ip.header.destination) {
            return Err(DropReason::ForeignDestination);
        }
        // Its owner may lend it no more for today.
        if self.registration.state() != State::Registered {
            return Err(DropReason::NoLink);
        }
        let packet = self.pool.copy_of(inner).ok_or(DropReason::TooLong)?;
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.way.asked(now);
            neighbours.counters.stood_in_packets += 1;
        }
        let (protocol, ecn) = device::protocol_and_ecn(&packet);
        self.send_return(now, GreHeader::plain(protocol), ecn, packet);
        Ok(())
    }
}
