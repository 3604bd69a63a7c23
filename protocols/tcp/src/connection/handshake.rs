//! Opening: SYN, SYN-ACK, simultaneous open, and what the options settle (RFC 9293 sections 3.5, 3.10.7.3).
use super::accept::Accepted;
use super::metrics::{Counters, Traffic};
use super::polling::Polling;
use super::reassembly::Reassembly;
use super::receive_window::{ReceiveWindow, shift_for};
use super::timers::Timers;
use super::{
    AckNeed, Acking, Agreed, Clock, Connection, Control, EcnState, Events, Receiving, SegmentIn, Sending,
    State,
};
use crate::config::TcpConfig;
use crate::engine::Engine;
use alloc::sync::Arc;
use prismux_units::Instant;
use prismux_wire::{SeqNumber, TcpFlags, TcpHeader};

/// Without an MSS option the peer takes segments of this size (RFC 9293 section 3.7.1).
const DEFAULT_MSS: u16 = 536;
/// An MSS option below this is a mistake or an attack on our packet rate.
const SMALLEST_MSS: u16 = 88;
/// Timestamps and their padding in every segment.
const TIMESTAMP_BYTES: u32 = 12;
/// Window scale shifts above this mean this (RFC 7323 section 2.3).
const MAX_SHIFT: u8 = 14;

impl Connection {
    /// Opens actively: the first transmit is SYN.
    ///
    /// `initial_sequence` should be unpredictable on a real network (RFC 6528).
    pub fn connect(
        config: impl Into<Arc<TcpConfig>>,
        local_port: u16,
        remote_port: u16,
        initial_sequence: SeqNumber,
        now: Instant,
    ) -> Self {
        Self::new(config.into(), State::SynSent, local_port, remote_port, initial_sequence, now)
    }

    /// Answers `syn` with SYN-ACK; see [`Listener`](crate::Listener) for a bounded set of such connections.
    pub fn accept(
        config: impl Into<Arc<TcpConfig>>,
        syn: &TcpHeader,
        initial_sequence: SeqNumber,
        now: Instant,
    ) -> Self {
        let (local, remote) = (syn.destination_port, syn.source_port);
        let mut connection =
            Self::new(config.into(), State::SynReceived, local, remote, initial_sequence, now);
        connection.learn_from_syn(now, syn);
        connection
    }

    fn new(
        config: Arc<TcpConfig>,
        state: State,
        local_port: u16,
        remote_port: u16,
        initial: SeqNumber,
        now: Instant,
    ) -> Self {
        let segment_bytes = u32::from(config.mss.max(SMALLEST_MSS));
        Self {
            engine: Engine::new(&config.engine, segment_bytes),
            extension: None,
            extended: false,
            order: None,
            state,
            local_port,
            remote_port,
            sending: Sending {
                initial,
                written: 0,
                fin: false,
                acknowledged: 0,
                sent_end: 0,
                window_end: 0,
                largest_window: 0,
                window_from: 0,
                window_field: 0,
                shift: 0,
                segment_bytes,
                override_silly: false,
            },
            receiving: Receiving {
                initial: SeqNumber(0),
                reassembly: Reassembly::new(config.max_out_of_order_ranges),
                window: ReceiveWindow::new(config.receive_buffer.as_u64()),
                fin_position: 0,
                fin_seen: false,
                closed: false,
            },
            acking: Acking { need: AckNeed::None, segments: 0, quick: config.quick_ack_segments },
            agreed: Agreed::default(),
            clock: Clock::new(config.timestamp_offset, config.engine.timestamp_granularity),
            ecn: EcnState::default(),
            control: Some(Control::Syn),
            timers: Timers::starting(now),
            progress_at: now,
            delayed_ack: Instant::MAX,
            ecn_reduced_until: 0,
            polling: Polling::default(),
            events: Events::default(),
            counters: Counters::default(),
            traffic: Traffic::default(),
            config,
        }
    }

    /// Takes over the peer's sequence number, window and options from its SYN or SYN-ACK.
    fn learn_from_syn(&mut self, now: Instant, syn: &TcpHeader) {
        let (config, options) = (&self.config, &syn.options);
        self.receiving.initial = syn.seq;
        self.agreed = Agreed {
            window_scaling: config.window_scaling && options.window_scale.is_some(),
            timestamps: config.timestamps && options.timestamps.is_some(),
            sack: config.sack && options.sack_permitted,
            peer_marks_order: options.delivery_order.is_some(),
        };
        let mss = options.mss.unwrap_or(DEFAULT_MSS).min(config.mss).max(SMALLEST_MSS);
        let overhead = if self.agreed.timestamps { TIMESTAMP_BYTES } else { 0 };
        self.sending.segment_bytes = u32::from(mss) - overhead;
        let shift = if self.agreed.window_scaling { shift_for(config.receive_buffer.as_u64()) } else { 0 };
        self.settle_order();
        self.fit_engine(shift);
        if self.agreed.window_scaling {
            self.sending.shift = options.window_scale.unwrap_or(0).min(MAX_SHIFT);
        }
        // A window in a SYN is never scaled (RFC 7323 section 2.2).
        self.sending.window_end = u64::from(syn.window);
        self.sending.largest_window = u64::from(syn.window);
        if let Some(timestamps) = options.timestamps.filter(|_| self.agreed.timestamps) {
            self.clock.update(now, timestamps.value, 0);
        }
        self.agree_on_ecn(syn.flags);
    }

    /// ECN-setup SYN carries ECE and CWR, ECN-setup SYN-ACK carries ECE alone (RFC 3168 section 6.1.1).
    fn agree_on_ecn(&mut self, flags: TcpFlags) {
        let echo = flags.contains(TcpFlags::ECE);
        let reduced = flags.contains(TcpFlags::CWR);
        let setup = if flags.contains(TcpFlags::ACK) { echo && !reduced } else { echo && reduced };
        self.ecn.negotiated = self.config.ecn && setup;
    }

    /// RFC 9293 section 3.10.7.3.
    pub(super) fn handle_in_syn_sent(&mut self, now: Instant, segment: &SegmentIn) {
        let header = &segment.header;
        let has_ack = header.flags.contains(TcpFlags::ACK);
        let acks_our_syn = has_ack && header.ack == self.sending.initial + 1;
        if has_ack && !acks_our_syn {
            self.counters.drops.bad_ack += 1;
            if !header.flags.contains(TcpFlags::RST) {
                self.control = Some(Control::Reset { seq: header.ack, with_ack: false });
            }
            return;
        }
        if header.flags.contains(TcpFlags::RST) {
            // Only a reset that acknowledges our SYN comes from somebody who saw it.
            if acks_our_syn {
                self.events.reset();
                self.enter_closed();
            } else {
                self.counters.drops.unproven += 1;
            }
            return;
        }
        if !header.flags.contains(TcpFlags::SYN) {
            self.counters.drops.malformed += 1;
            return;
        }
        self.learn_from_syn(now, header);
        self.timers.hear(now);
        if acks_our_syn {
            self.enter_established(now, header);
            self.acking.need = AckNeed::Now;
        } else {
            // Simultaneous open: both SYNs crossed.
            self.state = State::SynReceived;
            self.control = Some(Control::Syn);
        }
    }

    /// In SYN-RECEIVED the peer's SYN may come again: alone, because our SYN-ACK was lost, or with the ACK
    /// of our SYN, when both opened at once. The latter is turned into the ACK it stands for.
    #[cold]
    pub(super) fn settle_crossed_syn(&mut self, segment: &SegmentIn) -> Option<SegmentIn> {
        let mut segment = *segment;
        let header = &mut segment.header;
        if !header.flags.contains(TcpFlags::SYN) || header.seq != self.receiving.initial {
            return Some(segment);
        }
        if !header.flags.contains(TcpFlags::ACK) {
            self.control = Some(Control::Syn);
            return None;
        }
        header.flags = header.flags.without(TcpFlags::SYN);
        header.seq += 1;
        // Not scaled in a SYN; rounded down here until the next ACK says more.
        header.window >>= self.sending.shift;
        Some(segment)
    }

    /// The ACK of our SYN arrived in SYN-RECEIVED.
    pub(super) fn complete_handshake(&mut self, now: Instant, segment: &SegmentIn, accepted: &Accepted) {
        self.enter_established(now, &segment.header);
        self.sending.window_from = accepted.start.max(0) as u64;
        self.sending.window_field = segment.header.window;
        self.set_window_end(u64::from(segment.header.window) << self.sending.shift);
        if self.sending.fin {
            self.state = State::FinWait1;
        }
    }

    fn enter_established(&mut self, now: Instant, header: &TcpHeader) {
        let counts_timeouts = self.state == State::SynSent && self.config.syn_loss_is_timeout;
        self.state = State::Established;
        self.control = None;
        let retransmitted = self.timers.syn_retransmissions > 0;
        let echo = header.options.timestamps.filter(|t| self.agreed.timestamps && t.echo != 0);
        // Karn: only timestamps tell which SYN was answered.
        let rtt = match echo {
            Some(timestamps) if retransmitted => self.clock.elapsed(now, timestamps.echo),
            _ if retransmitted => None,
            _ => Some(now - self.timers.syn_sent_at),
        };
        if retransmitted {
            self.engine.on_handshake_loss();
            // What the engine took before was for other options than those agreed on: it has begun anew.
            let timeouts = if counts_timeouts { self.timers.syn_retransmissions } else { 0 };
            (0..timeouts).for_each(|_| self.engine.on_syn_timeout());
        }
        if let Some(rtt) = rtt {
            self.engine.on_rtt_sample(now, rtt);
        }
        self.timers.establish(now, &self.config);
        self.progress_at = now;
        self.events.connected();
    }
}
