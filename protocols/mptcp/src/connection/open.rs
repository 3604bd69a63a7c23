//! Opening: the first subflow with MP_CAPABLE, further ones with MP_JOIN, announced addresses.
use super::{Connection, Drops, Ends, Identity, Mode, State, Waits};
use crate::config::{Coupling, MAX_SUBFLOWS, MptcpConfig};
use crate::coupling::CoupledWindow;
use crate::event::Events;
use crate::keys::{Key, address_proof};
use crate::options::{AddAddress, Join, RareOptions};
use crate::receive_buffer::ReceiveBuffer;
use crate::scheduler::Chooser;
use crate::segment::{Path, Segment, reset_for};
use crate::send_buffer::SendBuffer;
use crate::subflow::{Opening, Origin, Subflow, tcp_config};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
use prismux_endpoint::random::RandomStream;
use prismux_units::Instant;
use prismux_wire::{SeqNumber, TcpFlags};

/// Why a segment opens no connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It is not a SYN, or one that wants to join another connection.
    NotAnOpening,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the opening segment of a connection")
    }
}

impl core::error::Error for Refusal {}

impl Connection {
    /// Opens actively: the first transmit is the SYN over the first of `paths`; the others follow once the peer has
    /// shown that it speaks MPTCP. `random` should be unpredictable on a real network: keys are drawn from it.
    pub fn connect(
        config: MptcpConfig,
        paths: &[Path],
        ports: (u16, u16),
        random: RandomStream,
        now: Instant,
    ) -> Self {
        let mut connection = Self::new(config, true, ports, random);
        let mut paths = paths.iter().copied();
        if let Some(first) = paths.next() {
            connection.open(Origin { path: first, opening: Opening::First, address_id: 0 }, now);
        }
        let further = usize::from(connection.config.max_subflows) - 1;
        connection.to_join = paths.take(further).collect();
        connection
    }

    /// Answers `opening`; `locals` are further addresses to announce. Without MP_CAPABLE, or with checksums wanted,
    /// which a connection without bytes cannot compute, it is plain TCP.
    ///
    /// # Errors
    /// When `opening` is no SYN of a first subflow.
    pub fn accept(
        config: MptcpConfig,
        locals: &[IpAddr],
        opening: &Segment,
        random: RandomStream,
        now: Instant,
    ) -> Result<Self, Refusal> {
        let flags = opening.tcp.flags;
        let is_syn = flags.contains(TcpFlags::SYN) && !flags.intersects(TcpFlags::ACK | TcpFlags::RST);
        if !is_syn || opening.mptcp.join.is_some() {
            return Err(Refusal::NotAnOpening);
        }
        let ports = (opening.tcp.destination_port, opening.tcp.source_port);
        let mut connection = Self::new(config, false, ports, random);
        let origin = Origin { path: opening.path, opening: Opening::First, address_id: 0 };
        connection.accept_subflow(origin, opening, now);
        connection.send_buffer.acknowledge(0, u64::from(opening.tcp.window));
        if opening.mptcp.capable.is_none_or(|capable| capable.checksum_required) {
            connection.fall_back();
        }
        let own = opening.path.local;
        let announced = locals.iter().filter(|&&address| address != own).zip(1..);
        connection.to_announce = announced
            .map(|(&address, id)| AddAddress { id, address, port: None, proof: None })
            .take(usize::from(connection.config.max_subflows) - 1)
            .collect();
        Ok(connection)
    }

    fn new(config: MptcpConfig, opened_here: bool, ports: (u16, u16), mut random: RandomStream) -> Self {
        let key = Key(random.next_u64());
        let config = MptcpConfig { max_subflows: config.max_subflows.clamp(1, MAX_SUBFLOWS), ..config };
        let receive_bytes = config.receive_buffer.as_u64();
        let identity = Identity {
            opened_here,
            key,
            peer_key: None,
            first: key.initial_data_sequence().wrapping_add(1),
            peer_first: 0,
            is_proven: false,
            ports,
        };
        Self {
            tcp_config: Arc::new(tcp_config(&config)),
            identity,
            random,
            state: State::Opening,
            mode: Mode::Open,
            subflows: Vec::new(),
            to_join: VecDeque::new(),
            to_announce: VecDeque::new(),
            chooser: Chooser::new(config.scheduler),
            views: Vec::new(),
            send_buffer: SendBuffer::new(config.send_buffer.as_u64()),
            receive_buffer: ReceiveBuffer::new(receive_bytes),
            shift: ReceiveBuffer::shift_for(receive_bytes),
            ends: Ends::default(),
            waits: Waits::default(),
            repeated_until: 0,
            told_acknowledged: 0,
            resets: VecDeque::new(),
            events: Events::default(),
            drops: Drops::default(),
            config,
        }
    }

    fn initial_sequence(&mut self) -> SeqNumber {
        SeqNumber(self.random.next_u64() as u32)
    }

    fn open(&mut self, origin: Origin, now: Instant) {
        let initial = self.initial_sequence();
        let subflow = Subflow::open(origin, &self.tcp_config, self.identity.ports, initial, now);
        self.add(subflow);
    }

    fn accept_subflow(&mut self, origin: Origin, syn: &Segment, now: Instant) {
        let initial = self.initial_sequence();
        self.add(Subflow::accept(origin, &self.tcp_config, &syn.tcp, initial, now));
    }

    fn add(&mut self, mut subflow: Subflow) {
        if self.config.coupling != Coupling::Off {
            subflow.tcp_mut().set_congestion(Box::<CoupledWindow>::default());
        }
        self.subflows.push(subflow);
    }

    /// Opens a subflow over `path`. False when the connection is not established, or has as many as it may.
    pub fn join(&mut self, now: Instant, path: Path) -> bool {
        let may = self.state == State::Established && self.identity.is_proven && self.has_place();
        if !may || self.mode != Mode::Multipath || self.place_of(path).is_some() {
            return false;
        }
        let own_nonce = self.random.next_u64() as u32;
        let opening = Opening::Join { own_nonce, peer_nonce: 0, opened_here: true, confirmed: false };
        let address_id = self.subflows.len() as u8;
        self.open(Origin { path, opening, address_id }, now);
        true
    }

    fn has_place(&self) -> bool {
        let alive = self.subflows.iter().filter(|subflow| !subflow.ended).count();
        alive < usize::from(self.config.max_subflows)
    }

    /// The peer knows our key: the other paths may follow, and addresses be announced.
    pub(super) fn open_others(&mut self, now: Instant) {
        while let Some(path) = self.to_join.pop_front() {
            self.join(now, path);
        }
        self.announce();
    }

    /// Puts the next address to announce on its way.
    pub(super) fn announce(&mut self) {
        let Some(peer_key) = self.identity.peer_key.filter(|_| self.mode == Mode::Multipath) else { return };
        let Some(next) = self.to_announce.front().copied() else { return };
        let Some(best) = self.best_subflow(Subflow::is_live) else { return };
        let proof = address_proof(self.identity.key, peer_key, next.id, next.address, next.port.unwrap_or(0));
        self.subflows[best].rare.add_address = Some(AddAddress { proof: Some(proof), ..next });
        self.subflows[best].request_ack();
    }

    /// ADD_ADDR, REMOVE_ADDR, MP_PRIO on the subflow at `place`.
    pub(super) fn take_rare(&mut self, now: Instant, place: usize, rare: &RareOptions) {
        if let Some(backup) = rare.backup {
            self.subflows[place].backup[1] = backup;
            self.resume_all();
        }
        if let Some(added) = rare.add_address {
            self.take_address(now, place, added);
        }
        if let Some(id) = rare.remove_address {
            // The peer's numbers are those of its SYNs' addresses: subflows it has opened.
            let theirs = |subflow: &Subflow| {
                !subflow.ended && matches!(subflow.opening, Opening::Join { opened_here: false, .. })
            };
            let gone = self.subflows.iter().position(|subflow| theirs(subflow) && subflow.address_id == id);
            if let Some(gone) = gone {
                self.subflows[gone].abort();
                self.release(gone);
            }
        }
    }

    fn take_address(&mut self, now: Instant, place: usize, added: AddAddress) {
        let Some(proof) = added.proof else {
            // An echo: the next one's turn.
            if self.to_announce.front().is_some_and(|sent| sent.id == added.id) {
                self.to_announce.pop_front();
                self.announce();
            }
            return;
        };
        let Some(peer_key) = self.identity.peer_key else { return };
        let port = added.port.unwrap_or(0);
        if proof != address_proof(peer_key, self.identity.key, added.id, added.address, port) {
            self.drops.bad_proof += 1;
            return;
        }
        self.subflows[place].rare.add_address = Some(AddAddress { proof: None, ..added });
        self.subflows[place].request_ack();
        let path = Path { local: self.subflows[place].path.local, remote: added.address };
        if self.config.join_announced && self.identity.opened_here {
            self.join(now, path);
        }
    }

    /// A SYN over a path without a subflow: one that joins, with our token.
    pub(super) fn accept_join(&mut self, now: Instant, segment: &Segment) {
        let Some(Join::Syn { backup, address_id, token, nonce }) = segment.mptcp.join else {
            self.drops.unknown_subflow += 1;
            self.resets.extend(reset_for(segment));
            return;
        };
        let known = self.mode == Mode::Multipath && self.identity.peer_key.is_some();
        if token != self.token() || !known || self.state != State::Established || !self.has_place() {
            self.drops.bad_token += u64::from(token != self.token());
            self.resets.extend(reset_for(segment));
            return;
        }
        let own_nonce = self.random.next_u64() as u32;
        let opening = Opening::Join { own_nonce, peer_nonce: nonce, opened_here: false, confirmed: false };
        self.accept_subflow(Origin { path: segment.path, opening, address_id }, segment, now);
        if let Some(joined) = self.subflows.last_mut() {
            joined.backup[1] = backup;
        }
    }
}
