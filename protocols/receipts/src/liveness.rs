//! Whether a link still answers, within a fraction of a second.
//!
//! Something comes back soon after anything went out that the far end answers: packets with numbers bring receipts. A
//! link from which nothing is heard for too long is *silent*: traffic leaves it, and probes ask whether packets pass
//! in both directions again. So is one that has become so slow that what is under way would take long to come:
//! whatever else is heard over it, receipts tell of less and less. Nothing is concluded from an idle link.
use crate::estimate::UnderWay;
use prismux_units::{Duration, Instant};

/// Receipts come at least this often while packets do: what they may wait for is the writers' setting.
pub const MAX_RECEIPT_WAIT: Duration = Duration::from_millis(40);

/// The answer of a link that works takes its round trip and what a receipt waits. Beyond that, for processors that are
/// busy and queues that grow.
const MARGIN: Duration = Duration::from_millis(60);
/// Round trips grow by no more than a quarter unnoticed.
const RTT_SHARE: f64 = 1.25;
/// The round trip of a link that was never measured.
const UNKNOWN_RTT: Duration = Duration::from_millis(200);
/// No link is waited for longer.
const MAX_QUIET: Duration = Duration::from_secs(2);

/// A link over which what is under way takes so much longer than it should has all but stopped: beside that, what goes
/// out again over another link and the link's new beginning are cheap.
const MAX_REST: Duration = Duration::from_millis(300);
/// With fewer packets under way, one that was lost would be taken for many that are late.
const MIN_STUCK_PACKETS: u64 = 4;
/// What receipts tell of is counted over this time, and over twice as much.
const PACE_SPAN: Duration = Duration::from_millis(50);
/// Why a link is left from which nothing is heard, in words.
pub const UNANSWERED: &str = "it does not answer";
/// And one over which receipts tell of less and less.
pub const STUCK: &str = "it has all but stopped";

/// Time between the first two probes of a silent link.
const FIRST_PROBE_INTERVAL: Duration = Duration::from_millis(50);
/// And between later ones at most.
const MAX_PROBE_INTERVAL: Duration = Duration::from_millis(500);

/// Time between probes of a silent link over which something comes.
const RETURN_PROBE_INTERVAL: Duration = Duration::from_millis(100);

/// A silent link and its probes.
#[derive(Debug, Clone, Copy)]
struct Silence {
    next_probe: Instant,
    /// When the latest probe was sent, or the silence began.
    probed_at: Instant,
    interval: Duration,
    /// The first probe of this silence: older ones count no more.
    first: u64,
}

/// What is known of one link's being alive.
#[derive(Debug, Clone, Copy)]
pub struct Liveness {
    /// What an answer may wait for at the far end.
    answer_wait: Duration,
    /// When the first packet was sent since anything was heard.
    unanswered_since: Option<Instant>,
    rtt: Option<Duration>,
    silence: Option<Silence>,
    /// The number of the latest probe.
    probe: u64,
    stuck: Stuck,
}

/// Whether what is under way comes.
#[derive(Debug, Clone, Copy, Default)]
struct Stuck {
    /// When to look again.
    look_at: Option<Instant>,
    /// When looking began: what was under way then may have gone out over other links.
    counts_from: Option<Instant>,
    /// What receipts had told of when this span and the one before began.
    pace: [(Instant, u64); 2],
}

impl Stuck {
    /// How long what is under way still takes at the pace of late; `None` at none.
    fn rest(&self, now: Instant, under_way: &UnderWay) -> Option<Duration> {
        let (since, before) = self.pace[1];
        let came = under_way.delivered_bytes.saturating_sub(before) as f64;
        let seconds = now.saturating_since(since).as_secs_f64();
        (came > 0.0).then(|| Duration::from_secs_f64(under_way.bytes as f64 * seconds / came))
    }
}

/// A link of which nothing is known, over which receipts come.
impl Default for Liveness {
    fn default() -> Self {
        Self {
            answer_wait: MAX_RECEIPT_WAIT,
            unanswered_since: None,
            rtt: None,
            silence: None,
            probe: 0,
            stuck: Stuck::default(),
        }
    }
}

impl Liveness {
    /// A link of which nothing is known, and whose probes alone are answered, at once. They have numbers above
    /// `number`: an answer to those of an earlier life counts for nothing.
    pub fn by_probes(number: u64) -> Self {
        Self { probe: number, answer_wait: Duration::ZERO, ..Self::default() }
    }

    /// Something went out that the far end answers.
    pub fn sent(&mut self, now: Instant) {
        self.unanswered_since.get_or_insert(now);
        self.stuck.look_at.get_or_insert(now + PACE_SPAN);
    }

    /// Something came over the link. Over a silent one that may be the first sign of its return: it is probed at the
    /// first pace again.
    pub fn heard(&mut self) {
        self.unanswered_since = None;
        if let Some(silence) = &mut self.silence {
            silence.next_probe = silence.next_probe.min(silence.probed_at + RETURN_PROBE_INTERVAL);
            silence.interval = FIRST_PROBE_INTERVAL;
        }
    }

    /// The link's round trip was measured, queues included.
    pub fn measured(&mut self, rtt: Duration) {
        self.rtt = Some(rtt);
    }

    /// How long the link may be quiet after something was sent.
    fn patience(&self) -> Duration {
        (self.rtt.unwrap_or(UNKNOWN_RTT).mul_f64(RTT_SHARE) + self.answer_wait + MARGIN).min(MAX_QUIET)
    }

    /// When [`Liveness::is_overdue`] begins to hold if nothing is heard; `None` for a link that is silent already or
    /// owes nothing.
    pub fn overdue_at(&self) -> Option<Instant> {
        self.unanswered_since.filter(|_| self.silence.is_none()).map(|since| since + self.patience())
    }

    /// Whether an answer should have come by now.
    pub fn is_overdue(&self, now: Instant) -> bool {
        self.overdue_at().is_some_and(|at| at <= now)
    }

    /// Whether what is under way takes far longer than it should, by receipts: some of it should have come, and at the
    /// pace of late the rest takes long.
    pub fn is_stuck(&mut self, now: Instant, under_way: Option<UnderWay>) -> bool {
        let Some(under_way) = under_way.filter(|_| self.silence.is_none()) else {
            self.stuck = Stuck::default();
            return false;
        };
        let patience = self.patience();
        let stuck = &mut self.stuck;
        if stuck.look_at.is_some_and(|at| at + PACE_SPAN < now) {
            // Whoever looks this late has had no processor, and receipts may wait to be read.
            *stuck = Stuck::default();
        }
        if now.saturating_since(stuck.pace[0].0) >= PACE_SPAN {
            stuck.pace = [(now, under_way.delivered_bytes), stuck.pace[0]];
        }
        stuck.look_at = Some(now + PACE_SPAN / 2);
        let since = under_way.since.max(*stuck.counts_from.get_or_insert(now));
        let is_late = under_way.packets >= MIN_STUCK_PACKETS && since + patience <= now;
        is_late && stuck.rest(now, &under_way).is_none_or(|rest| rest > MAX_REST)
    }

    /// Whether the link is silent.
    pub fn is_silent(&self) -> bool {
        self.silence.is_some()
    }

    /// The link is silent from now on. False when it was already.
    pub fn fall_silent(&mut self, now: Instant) -> bool {
        let new = self.silence.is_none();
        if new {
            let silence = Silence {
                next_probe: now,
                probed_at: now,
                interval: FIRST_PROBE_INTERVAL,
                first: self.probe.saturating_add(1),
            };
            self.silence = Some(silence);
            self.unanswered_since = None;
        }
        new
    }

    /// The number of a probe of a link that is not silent: its answer tells the round trip, and ends no later silence.
    pub fn next_number(&mut self) -> u64 {
        self.probe = self.probe.saturating_add(1);
        self.probe
    }

    /// The next probe, if one is due.
    pub fn poll_probe(&mut self, now: Instant) -> Option<u64> {
        let silence = self.silence.as_mut().filter(|silence| silence.next_probe <= now)?;
        silence.next_probe = now + silence.interval;
        silence.probed_at = now;
        silence.interval = silence.interval.mul_f64(1.5).min(MAX_PROBE_INTERVAL);
        Some(self.next_number())
    }

    /// A probe was answered: whether that ends the silence.
    pub fn answered(&mut self, number: u64) -> bool {
        let ends = self.silence.is_some_and(|silence| (silence.first..=self.probe).contains(&number));
        if ends {
            self.end_silence();
        }
        ends
    }

    /// The link is a new one.
    pub fn end_silence(&mut self) {
        (self.silence, self.unanswered_since) = (None, None);
        self.stuck = Stuck::default();
    }

    /// When there is something to do: a probe, or an answer that has not come.
    pub fn deadline(&self) -> Option<Instant> {
        let look = [self.overdue_at(), self.stuck.look_at].into_iter().flatten().min();
        self.silence.map_or(look, |silence| Some(silence.next_probe))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn at(milliseconds: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_link_that_owes_an_answer_is_overdue_after_its_round_trip_and_a_margin() {
        let mut link = Liveness::default();
        link.measured(Duration::from_millis(40));
        assert_eq!(link.deadline(), None, "an idle link owes nothing");
        link.sent(at(1000));
        link.sent(at(1100));
        assert!(!link.is_overdue(at(1149)) && link.is_overdue(at(1150)));
        link.heard();
        assert!(!link.is_overdue(at(9000)));
    }

    #[test]
    fn only_the_answer_to_a_probe_of_this_silence_ends_it() {
        let mut link = Liveness::default();
        assert!(link.fall_silent(at(0)) && !link.fall_silent(at(1)));
        let old = link.poll_probe(at(0)).unwrap();
        assert!(link.answered(old) && !link.is_silent());
        assert!(link.fall_silent(at(500)));
        assert!(!link.answered(old), "an echo that was held up");
        link.heard();
        assert!(link.is_silent(), "what comes says nothing of the other direction");
        let new = link.poll_probe(at(500)).unwrap();
        assert!(!link.answered(new + 1), "nobody has asked that yet");
        assert!(link.answered(new) && !link.is_silent());
    }

    #[test]
    fn the_first_sign_of_a_return_is_followed_by_a_probe_and_a_flood_of_them_by_few() {
        let mut link = Liveness::default();
        link.fall_silent(at(0));
        while link.deadline().is_some_and(|due| due < at(9_000)) {
            link.poll_probe(link.deadline().unwrap());
        }
        let last = link.silence.unwrap().probed_at;
        assert!(link.deadline().unwrap() > last + Duration::from_millis(400));
        link.heard();
        assert_eq!(link.deadline(), Some(last + RETURN_PROBE_INTERVAL));
        let probes = (10_000..11_000).filter(|&time| {
            link.heard();
            link.poll_probe(at(time)).is_some()
        });
        let probes = probes.count();
        assert!((9..=21).contains(&probes), "{probes} in a second");
    }

    #[test]
    fn probes_come_seldom_in_the_long_run() {
        let mut link = Liveness::default();
        link.fall_silent(at(0));
        let probes = (0..10_000).filter(|&time| link.poll_probe(at(time)).is_some()).count();
        assert!((20..=30).contains(&probes), "{probes} in ten seconds");
    }

    /// A link that is given a packet each millisecond and passes `packets_per_second` from one second on, 20 ms later;
    /// whether and after how long it is stuck.
    fn stuck_after(packets_per_second: u64, queue: u64) -> Option<u64> {
        let mut link = Liveness::default();
        link.measured(Duration::from_millis(40));
        let (mut sent, mut queued) = (Vec::new(), 0.0_f64);
        let mut came = 0;
        for time in 0..3000 {
            if queued < queue as f64 {
                sent.push(at(time));
                queued += 1.0;
                link.sent(at(time));
            }
            let rate = if time < 1000 { 1000 } else { packets_per_second };
            queued = (queued - rate as f64 / 1000.0).max(0.0);
            came = came.max((sent.len() as f64 - queued).floor() as usize);
            // Something else comes all the time.
            link.heard();
            let under_way = sent.get(came).map(|&since| UnderWay {
                since,
                packets: (sent.len() - came) as u64,
                bytes: 1400 * (sent.len() - came) as u64,
                delivered_bytes: 1400 * came as u64,
            });
            if time % 5 == 0 && link.is_stuck(at(time), under_way) {
                return Some(time);
            }
        }
        None
    }

    #[test]
    fn a_link_that_has_all_but_stopped_is_told_though_something_comes_all_the_time() {
        let stopped = stuck_after(20, 60).unwrap();
        assert!((1100..1250).contains(&stopped), "{stopped}");
        assert!(stuck_after(0, 60).is_some());
        assert_eq!(stuck_after(1000, 60), None);
        assert_eq!(stuck_after(250, 60), None, "what is under way comes in time at a quarter of the rate");
        assert_eq!(stuck_after(0, 3), None, "a few packets may be lost");
    }

    #[test]
    fn what_was_under_way_in_a_silence_and_what_nobody_looked_at_do_not_count() {
        let mut link = Liveness::default();
        link.measured(Duration::from_millis(40));
        let old = UnderWay { since: at(0), packets: 40, bytes: 56_000, delivered_bytes: 0 };
        assert!(!link.is_stuck(at(10), Some(old)));
        assert!(!link.is_stuck(at(1000), Some(old)), "who looked was late itself");
        for time in (1025..1150).step_by(25) {
            assert!(!link.is_stuck(at(time), Some(old)), "{time}");
        }
        assert!(link.is_stuck(at(1150), Some(old)));
        link.fall_silent(at(1150));
        let probe = link.poll_probe(at(1150)).unwrap();
        assert!(link.answered(probe) && !link.is_stuck(at(1200), Some(old)));
    }
}
