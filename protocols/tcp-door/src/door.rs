//! One end of a connection: marks what leaves, judges what arrives, responds.
use crate::config::DoorConfig;
use crate::detect::{AckOrder, DataOrder};
use crate::mark::Marker;
use crate::respond::Responder;
use prismux_tcp::order::{OrderResponse, OrderView, OrderWatch};
use prismux_tcp::{SegmentIn, SegmentOut};
use prismux_units::Instant;
use prismux_wire::{DeliveryOrder, TcpFlags, TcpHeader};

/// Bytes of the option in every segment after the handshake.
const OPTION_BYTES: u32 = 8;
/// SYNs that carry the option where not all do: later ones go without, for paths that drop what they do not know.
const SYNS_WITH_OPTION: u8 = 2;

/// What one end has seen and done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DoorCounters {
    /// Acknowledgements that arrived out of order (D1).
    pub late_acks: u64,
    /// Data packets that arrived out of order (D2).
    pub late_data: u64,
    /// Reports of late data packets that arrived from the peer.
    pub reports: u64,
    /// Reports that only repeat one within a round trip.
    pub repeated_reports: u64,
    /// Events responded to.
    pub events: u64,
    /// Events without response, because congestion control has stood still for its share of time.
    pub guarded: u64,
}

/// TCP-DOOR at one end of a connection ([`Connection::set_order_watch`](prismux_tcp::Connection::set_order_watch)).
#[derive(Debug, Clone)]
pub struct Door {
    config: DoorConfig,
    /// Both ends know the option.
    agreed: bool,
    marker: Marker,
    acks: AckOrder,
    data: DataOrder,
    responder: Responder,
    reported_at: Option<Instant>,
    counters: DoorCounters,
}

impl Door {
    /// An end that has seen nothing yet.
    pub fn new(config: DoorConfig) -> Self {
        Self {
            agreed: false,
            marker: Marker::default(),
            acks: AckOrder::default(),
            data: DataOrder::default(),
            responder: Responder::new(&config),
            reported_at: None,
            counters: DoorCounters::default(),
            config,
        }
    }

    /// What happened so far.
    pub fn counters(&self) -> &DoorCounters {
        &self.counters
    }

    /// Both ends know the option; otherwise acknowledgement numbers and timestamps have to do.
    pub fn is_agreed(&self) -> bool {
        self.agreed
    }

    /// D2 at this end. Says whether the peer is to be told.
    fn judge_data(&mut self, now: Instant, segment: &SegmentIn) -> bool {
        let watches = self.config.detects_data && segment.payload_bytes > 0;
        let late = watches && self.data.is_late(now, &segment.header);
        self.counters.late_data += u64::from(late);
        if late && self.agreed {
            self.marker.report(self.config.report_repeats);
        }
        late && self.agreed
    }

    /// D1 at this end, and what D2 at the other end reports. Says whether there is an event.
    fn judge_ack(&mut self, header: &TcpHeader, view: &OrderView<'_>) -> bool {
        let late = self.config.detects_acks && self.acks.is_late(view.now, header);
        self.counters.late_acks += u64::from(late);
        let reported = header.options.delivery_order.is_some_and(|order| order.out_of_order);
        late | (reported && self.config.detects_data && self.is_first_report(view))
    }

    /// Where reports are repeated, those within a round trip of one are that one.
    fn is_first_report(&mut self, view: &OrderView<'_>) -> bool {
        self.counters.reports += 1;
        let recently = self
            .reported_at
            .zip(view.srtt())
            .is_some_and(|(at, srtt)| self.config.report_repeats > 0 && view.now - at <= srtt);
        self.counters.repeated_reports += u64::from(recently);
        if !recently {
            self.reported_at = Some(view.now);
        }
        !recently
    }
}

impl OrderWatch for Door {
    fn settle(&mut self, offers: bool) -> u32 {
        self.agreed = offers && self.config.offers_option;
        if self.agreed { OPTION_BYTES } else { 0 }
    }

    fn mark(&mut self, segment: &mut SegmentOut, retransmissions: u8) {
        let header = &mut segment.header;
        let (syn, ack) = (header.flags.contains(TcpFlags::SYN), header.flags.contains(TcpFlags::ACK));
        let lasts = self.config.option_on_every_syn || retransmissions < SYNS_WITH_OPTION;
        let offers = self.config.offers_option && lasts;
        if syn && (self.agreed || (!ack && offers)) {
            header.options.insert_delivery_order(DeliveryOrder::default());
        } else if self.agreed && !syn && ack && !header.flags.contains(TcpFlags::RST) {
            self.marker.mark(header, segment.payload_bytes > 0 && self.config.numbers_data);
        }
    }

    fn on_arrival(&mut self, segment: &SegmentIn, view: &OrderView<'_>) -> OrderResponse {
        let acknowledge = self.judge_data(view.now, segment);
        let event = self.judge_ack(&segment.header, view) && view.has_sent;
        let mut response = OrderResponse { acknowledge, ..OrderResponse::default() };
        if event {
            match self.responder.respond(view.now, view.base_rto()) {
                Some(responses) => {
                    self.counters.events += 1;
                    response = OrderResponse { acknowledge, ..responses };
                }
                None => self.counters.guarded += 1,
            }
        }
        response
    }
}
