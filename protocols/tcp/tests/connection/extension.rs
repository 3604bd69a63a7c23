//! The seam for explicit loss notices: what TCP-PRISM's sender plugs in.
use prismux_endpoint::Endpoint;
use prismux_tcp::engine::LossNotice;
use prismux_tcp::extension::{SenderExtension, SenderView};
use prismux_tcp::{Connection, SegmentIn, TcpConfig};
use prismux_units::Instant;
use prismux_wire::{Ecn, KeepFactor, LossReport, SeqNumber, TcpFlags, TcpHeader};

/// Hands every report on, half the window kept.
#[derive(Debug)]
struct Reports;

impl SenderExtension for Reports {
    fn on_ack(&mut self, header: &TcpHeader, view: &SenderView<'_>) -> Option<LossNotice> {
        let report = header.options.loss_report?;
        let position = view.outstanding_position(report.lost)?;
        Some(LossNotice { position, path: report.link, keep: Some(report.keep) })
    }
}

const OURS: SeqNumber = SeqNumber(u32::MAX - 1000);
const THEIRS: SeqNumber = SeqNumber(5);

fn ack(position: u32, report: Option<u32>) -> SegmentIn {
    let mut header = TcpHeader {
        seq: THEIRS + 1,
        ack: OURS + 1 + position,
        flags: TcpFlags::ACK,
        window: 60_000,
        ..TcpHeader::default()
    };
    header.options.loss_report =
        report.map(|lost| LossReport { lost: OURS + 1 + lost, link: 3, flags: 0, keep: KeepFactor::HALF });
    SegmentIn { header, payload_bytes: 0, ecn: Ecn::NotEct }
}

/// A sender with ten segments of 1000 bytes out.
fn sender(now: Instant) -> Connection {
    let mut config = TcpConfig::modern();
    config.engine.tlp = false;
    let mut connection = Connection::connect(config, 1, 2, OURS, now);
    connection.set_extension(Box::new(Reports));
    connection.poll_transmit(now).expect("SYN");
    let mut syn_ack = ack(0, None);
    syn_ack.header.seq = THEIRS;
    syn_ack.header.flags |= TcpFlags::SYN;
    syn_ack.header.options.mss = Some(1000);
    syn_ack.header.options.sack_permitted = true;
    connection.handle_input(now, syn_ack);
    connection.write(10_000);
    let mut sent = 0;
    while let Some(segment) = connection.poll_transmit(now) {
        sent += segment.payload_bytes;
    }
    assert_eq!(sent, 10_000);
    connection
}

#[test]
fn a_report_resends_the_lost_segment_at_once_and_keeps_its_share_of_the_window() {
    let now = Instant::from_millis(10);
    let mut connection = sender(now);
    let before = connection.engine().cwnd();
    connection.handle_input(now, ack(2000, Some(4000)));
    let resent = connection.poll_transmit(now).expect("the lost segment");
    assert_eq!((resent.stream_offset, resent.payload_bytes), (4000, 1000));
    assert!(connection.engine().cwnd() < before, "{} then {}", before, connection.engine().cwnd());
    assert_eq!(connection.metrics().engine.counters.loss_notices, 1);
}

#[test]
fn reports_of_nothing_outstanding_change_nothing() {
    let now = Instant::from_millis(10);
    for lost in [0, 1999, 10_000, 1_000_000, u32::MAX - 3] {
        let mut connection = sender(now);
        connection.handle_input(now, ack(2000, Some(lost)));
        assert_eq!(connection.metrics().engine.counters.loss_notices, 0, "{lost}");
        assert!(connection.poll_transmit(now).is_none(), "{lost}");
    }
}

#[test]
fn without_the_extension_reports_are_ignored() {
    let now = Instant::from_millis(10);
    let mut connection = sender(now);
    connection.set_extension(Box::new(Deaf));
    connection.handle_input(now, ack(2000, Some(4000)));
    assert_eq!(connection.metrics().engine.counters.loss_notices, 0);

    /// Hears nothing.
    #[derive(Debug)]
    struct Deaf;
    impl SenderExtension for Deaf {
        fn on_ack(&mut self, _: &TcpHeader, _: &SenderView<'_>) -> Option<LossNotice> {
            None
        }
    }
}
