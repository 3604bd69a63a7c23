//! The proxy: flows, links and verdicts.
use crate::config::{LinkConfig, ProxyConfig};
use crate::link_table::LinkId;
use crate::status::{LinkStatus, ProxyCounters};
use crate::verdict::{AckRewrite, DataRewrite, DropReason, Verdict};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::Instant;
use prismux_wire::{FlowKey, TcpHeader};

/// The PRISM inverse multiplexer. `P` is a packet as the host knows it: cheap to clone.
#[derive(Debug)]
pub struct Proxy<P> {
    config: ProxyConfig,
    links: Vec<LinkId>,
    verdicts: VecDeque<Verdict<P>>,
    counters: ProxyCounters,
}

/// A packet, by direction and kind, for [`Endpoint::handle_input`].
#[derive(Debug, Clone)]
pub enum ProxyInput<P> {
    /// TCP towards the receiver.
    Data {
        /// Its flow.
        flow: FlowKey,
        /// Its header.
        header: TcpHeader,
        /// Bytes of TCP payload.
        payload_bytes: u32,
        /// Bytes it takes on a link, tunnel headers included if the host knows them.
        wire_bytes: u32,
        /// The packet.
        packet: P,
    },
    /// TCP towards the sender.
    Reverse {
        /// The flow of the *data* that it answers (its own key reversed).
        data_flow: FlowKey,
        /// Its header.
        header: TcpHeader,
        /// Bytes of TCP payload.
        payload_bytes: u32,
        /// The packet.
        packet: P,
    },
    /// Anything else towards the receiver.
    Opaque {
        /// A hash that is equal for all packets of one flow.
        flow_hash: u64,
        /// The packet.
        packet: P,
    },
}

/// What a trace may want to know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ProxyEvent {}

impl<P: Clone> Proxy<P> {
    /// A proxy without links.
    pub fn new(config: ProxyConfig) -> Self {
        Self { config, links: Vec::new(), verdicts: VecDeque::new(), counters: ProxyCounters::default() }
    }

    /// The settings.
    pub fn config(&self) -> &ProxyConfig {
        &self.config
    }

    /// A member offers its link. Joining under a number that is in use replaces the name and rate.
    pub fn join(&mut self, _now: Instant, link: LinkId, _config: LinkConfig) {
        self.links.push(link);
    }

    /// A member goes away; unknown links are ignored.
    pub fn leave(&mut self, _now: Instant, link: LinkId) {
        self.links.retain(|&l| l != link);
    }

    /// A TCP packet towards the receiver. `wire_bytes` is what it takes on a link.
    pub fn handle_data(
        &mut self,
        _now: Instant,
        _flow: FlowKey,
        _header: &TcpHeader,
        _payload_bytes: u32,
        _wire_bytes: u32,
        packet: P,
    ) {
        let verdict = match self.links.first() {
            Some(&link) => Verdict::Forward { link, packet, rewrite: DataRewrite::default() },
            None => Verdict::Drop { packet, reason: DropReason::NoLink },
        };
        self.verdicts.push_back(verdict);
    }

    /// A TCP packet from the receiver towards the sender of `data_flow`.
    pub fn handle_reverse(
        &mut self,
        _now: Instant,
        _data_flow: FlowKey,
        header: &TcpHeader,
        _payload_bytes: u32,
        packet: P,
    ) {
        self.verdicts.push_back(Verdict::Release { packet, rewrite: AckRewrite::identity(header) });
    }

    /// A packet towards the receiver whose header says nothing to the proxy (UDP, QUIC, IPsec): carried whole by flow.
    pub fn handle_opaque(&mut self, _now: Instant, _flow_hash: u64, packet: P) {
        let verdict = match self.links.first() {
            Some(&link) => Verdict::Forward { link, packet, rewrite: DataRewrite::default() },
            None => Verdict::Drop { packet, reason: DropReason::NoLink },
        };
        self.verdicts.push_back(verdict);
    }

    /// A deadline has come.
    pub fn handle_timeout(&mut self, _now: Instant) {}

    /// When to call [`Proxy::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Deadline> {
        None
    }

    /// The next verdict; call until `None` after every other call.
    pub fn poll_verdict(&mut self) -> Option<Verdict<P>> {
        self.verdicts.pop_front()
    }

    /// Every link that ever joined, in order of number.
    pub fn link_status(&self, _now: Instant) -> Vec<LinkStatus> {
        Vec::new()
    }

    /// Counters.
    pub fn counters(&self) -> &ProxyCounters {
        &self.counters
    }
}

impl<P: Clone> Endpoint for Proxy<P> {
    type Input = ProxyInput<P>;
    type Transmit = Verdict<P>;
    type Event = ProxyEvent;

    fn handle_input(&mut self, now: Instant, input: Self::Input) {
        match input {
            ProxyInput::Data { flow, header, payload_bytes, wire_bytes, packet } => {
                self.handle_data(now, flow, &header, payload_bytes, wire_bytes, packet);
            }
            ProxyInput::Reverse { data_flow, header, payload_bytes, packet } => {
                self.handle_reverse(now, data_flow, &header, payload_bytes, packet);
            }
            ProxyInput::Opaque { flow_hash, packet } => self.handle_opaque(now, flow_hash, packet),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        Proxy::handle_timeout(self, now);
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<Self::Transmit> {
        self.poll_verdict()
    }

    fn poll_event(&mut self) -> Option<Self::Event> {
        None
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        Proxy::poll_timeout(self)
    }
}
