//! Passive open: many possible peers, few of them real (RFC 9293 section 3.10.7.2, RFC 4987).
use crate::config::TcpConfig;
use crate::connection::{Connection, SegmentIn, SegmentOut, State, reset_for};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::Instant;
use prismux_wire::{FlowKey, SeqNumber, TcpFlags};

/// What a listener reports.
#[derive(Debug)]
pub enum ListenerEvent {
    /// The peer completed the handshake. Hand all further segments of `flow` to the connection; its
    /// transmits and events are undrained.
    Accepted {
        /// From the peer to us.
        flow: FlowKey,
        /// The connection, in ESTABLISHED.
        connection: Box<Connection>,
        /// The segment that completed the handshake, for its payload if it has any.
        segment: SegmentIn,
    },
}

/// A half-open connection.
#[derive(Debug)]
struct HalfOpen {
    flow: FlowKey,
    connection: Box<Connection>,
}

/// Waits for peers on one port. Flows are named as they arrive: from the peer to us.
///
/// The table of half-open connections is small and bounded; when it is full the oldest entry makes room, so
/// that a flood of SYNs that are never completed cannot shut out peers that answer within a round trip.
#[derive(Debug)]
pub struct Listener {
    config: Arc<TcpConfig>,
    half_open: Vec<HalfOpen>,
    capacity: usize,
    secret: u64,
    transmits: VecDeque<(FlowKey, SegmentOut)>,
    events: VecDeque<ListenerEvent>,
    evicted: u64,
}

impl Listener {
    /// Accepts connections with `config`, at most `capacity` of them half open. `secret` makes initial
    /// sequence numbers hard to guess (RFC 6528); draw it at random on a real network.
    pub fn new(config: impl Into<Arc<TcpConfig>>, capacity: usize, secret: u64) -> Self {
        Self {
            config: config.into(),
            half_open: Vec::new(),
            capacity: capacity.max(1),
            secret,
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            evicted: 0,
        }
    }

    /// Half-open connections at present.
    pub fn half_open(&self) -> usize {
        self.half_open.len()
    }

    /// Half-open connections that had to make room for newer ones.
    pub const fn evicted(&self) -> u64 {
        self.evicted
    }

    fn open(&mut self, now: Instant, flow: FlowKey, segment: &SegmentIn) {
        if self.half_open.len() >= self.capacity {
            self.half_open.remove(0);
            self.evicted += 1;
        }
        let initial = self.initial_sequence(now, &flow);
        let connection =
            Box::new(Connection::accept(Arc::clone(&self.config), &segment.header, initial, now));
        self.half_open.push(HalfOpen { flow, connection });
        let last = self.half_open.len() - 1;
        self.drain(now, last);
    }

    /// A clock of 4 µs ticks plus a keyed hash of the flow (RFC 6528 section 3).
    fn initial_sequence(&self, now: Instant, flow: &FlowKey) -> SeqNumber {
        let mut state = self.secret;
        let mut mix = |value: u64| {
            state = (state ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            state ^= state >> 29;
        };
        for address in [flow.source, flow.destination] {
            match address {
                core::net::IpAddr::V4(v4) => mix(u64::from(u32::from(v4))),
                core::net::IpAddr::V6(v6) => {
                    let bits = u128::from(v6);
                    mix(bits as u64);
                    mix((bits >> 64) as u64);
                }
            }
        }
        mix(u64::from(flow.source_port) << 16 | u64::from(flow.destination_port));
        mix(self.secret.rotate_left(32));
        SeqNumber(((now.as_nanos() / 4000) as u32).wrapping_add((state >> 32) as u32))
    }

    /// Passes on what half-open connection `index` wants to send; drops it when it gave up.
    fn drain(&mut self, now: Instant, index: usize) {
        let HalfOpen { flow, connection } = &mut self.half_open[index];
        while let Some(segment) = connection.poll_transmit(now) {
            self.transmits.push_back((flow.reversed(), segment));
        }
        if connection.state() == State::Closed {
            self.half_open.remove(index);
        }
    }

    fn advance(&mut self, now: Instant, index: usize, segment: SegmentIn) {
        let connection = &mut self.half_open[index].connection;
        connection.handle_input(now, segment);
        if matches!(connection.state(), State::SynReceived | State::Closed) {
            self.drain(now, index);
            return;
        }
        let HalfOpen { flow, connection } = self.half_open.remove(index);
        self.events.push_back(ListenerEvent::Accepted { flow, connection, segment });
    }

    fn refuse(&mut self, flow: FlowKey, segment: &SegmentIn) {
        if let Some(reset) = reset_for(segment) {
            self.transmits.push_back((flow.reversed(), reset));
        }
    }
}

impl Endpoint for Listener {
    type Input<'a> = (FlowKey, SegmentIn);
    type Transmit = (FlowKey, SegmentOut);
    type Event = ListenerEvent;

    fn handle_input(&mut self, now: Instant, (flow, segment): (FlowKey, SegmentIn)) {
        if let Some(index) = self.half_open.iter().position(|entry| entry.flow == flow) {
            self.advance(now, index, segment);
            return;
        }
        let flags = segment.header.flags;
        if flags.contains(TcpFlags::RST) {
            return;
        }
        if flags.contains(TcpFlags::ACK) || !flags.contains(TcpFlags::SYN) {
            self.refuse(flow, &segment);
            return;
        }
        self.open(now, flow, &segment);
    }

    fn handle_timeout(&mut self, now: Instant) {
        for index in (0..self.half_open.len()).rev() {
            self.half_open[index].connection.handle_timeout(now);
            self.drain(now, index);
        }
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<Self::Transmit> {
        self.transmits.pop_front()
    }

    fn poll_event(&mut self) -> Option<ListenerEvent> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        self.half_open
            .iter()
            .fold(None, |next, entry| Deadline::earliest(next, entry.connection.poll_timeout()))
    }
}
