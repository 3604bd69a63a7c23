//! TCP-PRISM on a whole connection: which reports are believed, how often, and what they do to the window.
use prismux_endpoint::Endpoint;
use prismux_prism::TcpPrism;
use prismux_tcp::engine::LossNotice;
use prismux_tcp::extension::{SenderExtension, SenderView};
use prismux_tcp::{Connection, SegmentIn, TcpConfig};
use prismux_units::{Duration, Instant};
use prismux_wire::{Ecn, KeepFactor, LossReport, SackBlock, SeqNumber, TcpFlags, TcpHeader};
use std::sync::{Arc, Mutex};

const MSS: u32 = 1000;
const OURS: SeqNumber = SeqNumber(u32::MAX - 20_000);
const THEIRS: SeqNumber = SeqNumber(90);

/// The extension, with a way to look at its counters.
#[derive(Debug, Clone, Default)]
struct Watched(Arc<Mutex<TcpPrism>>);

impl SenderExtension for Watched {
    fn on_ack(&mut self, header: &TcpHeader, view: &SenderView<'_>) -> Option<LossNotice> {
        self.0.lock().unwrap().on_ack(header, view)
    }
}

/// A sender; this test is its receiver and its proxy. Segments are numbered from 0.
struct Sender {
    connection: Connection,
    extension: Watched,
    now: Instant,
    acknowledged: u32,
}

impl Sender {
    /// Its first `acknowledged` segments are acknowledged, one by one, 50 ms after they left.
    fn new(config: &TcpConfig, acknowledged: u32) -> Self {
        let mut config = TcpConfig { timestamps: false, ..config.clone() };
        (config.engine.tlp, config.engine.hystart) = (false, None);
        let now = Instant::from_millis(1);
        let mut connection = Connection::connect(config, 1, 2, OURS, now);
        let extension = Watched::default();
        connection.set_extension(Box::new(extension.clone()));
        let mut sender = Self { connection, extension, now, acknowledged: 0 };
        sender.sent();
        let mut answer = sender.duplicate();
        (answer.seq, answer.flags) = (THEIRS, TcpFlags::SYN | TcpFlags::ACK);
        answer.options.mss = Some(MSS as u16);
        answer.options.sack_permitted = true;
        answer.options.window_scale = Some(5);
        sender.now += Duration::from_millis(50);
        sender.hear(answer);
        sender.connection.write(10_000_000);
        sender.sent();
        for _ in 0..acknowledged {
            sender.acknowledged += 1;
            sender.now += Duration::from_millis(50);
            let header = sender.duplicate();
            sender.hear(header);
        }
        sender
    }

    /// An ACK of what is acknowledged already.
    fn duplicate(&self) -> TcpHeader {
        TcpHeader {
            seq: THEIRS + 1,
            ack: OURS + 1 + self.acknowledged * MSS,
            flags: TcpFlags::ACK,
            window: 60_000,
            ..TcpHeader::default()
        }
    }

    /// Numbers of the segments that this ACK makes it send.
    fn hear(&mut self, header: TcpHeader) -> Vec<u32> {
        let segment = SegmentIn { header, payload_bytes: 0, ecn: Ecn::NotEct };
        self.connection.handle_input(self.now, segment);
        self.sent()
    }

    fn sent(&mut self) -> Vec<u32> {
        let mut numbers = Vec::new();
        while let Some(out) = self.connection.poll_transmit(self.now) {
            if out.payload_bytes > 0 {
                numbers.push((out.stream_offset / u64::from(MSS)) as u32);
            }
        }
        numbers
    }

    /// A duplicate ACK that reports segment `lost`.
    fn report(&mut self, lost: u32, link: u8, keep: u16, flags: u8) -> Vec<u32> {
        let lost = OURS + 1 + lost * MSS;
        let mut header = self.duplicate();
        header.options.loss_report = Some(LossReport { lost, link, flags, keep: KeepFactor(keep) });
        self.now += Duration::from_millis(1);
        self.hear(header)
    }

    fn window(&self) -> u64 {
        self.connection.metrics().engine.cwnd_bytes
    }

    fn outstanding(&self) -> u32 {
        self.connection.metrics().engine.outstanding_bytes as u32 / MSS
    }

    fn accepted_and_refused(&self) -> (u64, u64) {
        let extension = self.extension.0.lock().unwrap();
        (extension.accepted(), extension.refused())
    }
}

const THREE_QUARTERS: u16 = 0xC000;

fn profiles() -> [TcpConfig; 3] {
    [TcpConfig::linux_2_4(), TcpConfig::ns2_2002(), TcpConfig::modern()]
}

#[test]
fn a_report_resends_at_once_and_reduces_once_per_link_and_window() {
    for profile in profiles() {
        let mut sender = Sender::new(&profile, 20);
        let before = sender.window();
        assert_eq!(sender.report(20, 1, THREE_QUARTERS, 0).first(), Some(&20));
        assert_eq!(sender.window(), before * 3 / 4);
        assert_eq!(sender.report(22, 1, THREE_QUARTERS, 0).first(), Some(&22));
        assert_eq!(sender.window(), before * 3 / 4, "resent, but the window was reduced for this link");
        assert_eq!(sender.report(23, 2, THREE_QUARTERS, 0).first(), Some(&23));
        assert!(sender.window().abs_diff(before * 9 / 16) <= 1, "another link has a share of its own");
        assert_eq!(sender.accepted_and_refused(), (3, 0));
    }
}

#[test]
fn repeats_of_a_report_do_nothing_however_many_losses_lie_between() {
    let mut sender = Sender::new(&TcpConfig::modern(), 200);
    let lost: Vec<u32> = (200..200 + sender.outstanding()).step_by(2).collect();
    assert!(lost.len() > 100, "{} losses", lost.len());
    for &number in &lost {
        assert!(sender.report(number, 1, THREE_QUARTERS, 0).contains(&number));
    }
    let window = sender.window();
    for &number in &lost {
        // Long after the resent copies could have arrived.
        sender.now += Duration::from_millis(3);
        assert!(!sender.report(number, 1, THREE_QUARTERS, 1).contains(&number), "{number} again");
    }
    assert_eq!(sender.window(), window);
    assert_eq!(sender.accepted_and_refused(), (lost.len() as u64, 0));
}

#[test]
fn a_repeat_whose_first_copy_was_lost_counts() {
    let mut sender = Sender::new(&TcpConfig::modern(), 20);
    assert_eq!(sender.report(21, 1, THREE_QUARTERS, 1).first(), Some(&21));
    assert_eq!(sender.accepted_and_refused(), (1, 0));
}

#[test]
fn impossible_reports_are_counted_and_change_nothing() {
    for profile in profiles() {
        let mut sender = Sender::new(&profile, 20);
        let window = sender.window();
        let beyond = 20 + sender.outstanding();
        let nonsense = [(3, THREE_QUARTERS), (beyond, THREE_QUARTERS), (21, 0x7FFF), (21, 0)];
        for (number, keep) in nonsense {
            let sent = sender.report(number, 1, keep, 0);
            assert!(!sent.contains(&3) && !sent.contains(&21), "{sent:?}");
        }
        assert_eq!((sender.window(), sender.accepted_and_refused()), (window, (0, 4)));
    }
}

#[test]
fn a_false_report_is_taken_back_only_where_the_setting_says_so() {
    for undo_notices in [false, true] {
        let mut config = TcpConfig::linux_2_4();
        config.engine.undo_notices = undo_notices;
        let mut sender = Sender::new(&config, 20);
        let before = sender.window();
        assert_eq!(sender.report(20, 1, THREE_QUARTERS, 0).first(), Some(&20));
        assert!(sender.window() < before);
        // The original arrives after all, then the copy: a duplicate, says the receiver.
        sender.acknowledged = 21;
        sender.now += Duration::from_millis(50);
        let mut header = sender.duplicate();
        let (start, end) = (OURS + 1 + 20 * MSS, OURS + 1 + 21 * MSS);
        header.options.sack.push(SackBlock { start, end });
        sender.hear(header);
        assert_eq!(sender.window() >= before, undo_notices);
    }
}

#[path = "../../examples/two_links.rs"]
mod two_links;

/// The program of the README: it asserts that one download is quicker over both links than over either.
#[test]
fn the_example_downloads_over_both_links() {
    two_links::main();
}
