//! When a link that carries nothing any more is noticed, and when it is tried again.
use super::{Link, LinkTable, MAX_UNANSWERED};
use crate::events::ProxyEvent;
use crate::ids::LinkId;
use alloc::vec::Vec;
use prismux_units::{ByteCount, Duration, Instant};

/// Signs that a link is dead: packets overdue one after the other, and nothing that arrives.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Silence {
    /// Packets given up by age since something arrived.
    overdue: u8,
    /// When there were too many of them, or receipts stayed away.
    since: Option<Instant>,
    /// Receipts stayed away.
    by_receipts: bool,
    /// When the oldest packet went out of which nothing has told, however small it was.
    untold_since: Option<Instant>,
    /// How often in a row such a packet waited longer for a receipt than any has to.
    missed: u8,
}

/// What no receipt has told of since the latest one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unanswered {
    since: Instant,
    bytes: u64,
}

/// So many packets overdue in a row, without an arrival, are no accident.
const MAX_OVERDUE: u8 = 3;
/// A link whose probes nobody answers is tried with data after this time.
const SILENCE_LIMIT: Duration = Duration::from_secs(10);

/// For so many bytes a receipt is owed at once: fewer may not have paid for one.
const PAID_FOR: u64 = 32_000;
/// A receipt takes its round trip, grown by no more than this share unnoticed,
const RTT_SHARE: f64 = 1.25;
/// what it waits for others where it is paid for, and what busy processors take.
const MARGIN: Duration = Duration::from_millis(70);
/// On a thin link it waits until it is paid for, no longer than this (`WriterConfig::max_wait`).
const MAX_PAY_WAIT: Duration = Duration::from_millis(500);
/// Whoever looks so much too late has had no processor, and receipts may wait to be read.
const LATE: Duration = Duration::from_millis(50);

impl Link {
    /// `bytes` go out for which receipts come, where there are any; says when they should have come if these are the
    /// first.
    pub(super) fn note_unanswered(&mut self, now: Instant, bytes: u32) -> Option<Instant> {
        let is_first = self.silence.untold_since.is_none() && self.model.promises_receipts();
        if is_first {
            self.silence.untold_since = Some(now);
        }
        if let Some(unanswered) = &mut self.unanswered {
            unanswered.bytes += u64::from(bytes);
        } else if self.model.has_prompt_receipts() {
            self.unanswered = Some(Unanswered { since: now, bytes: u64::from(bytes) });
            return self.look_due();
        }
        is_first.then(|| self.told_due()).flatten()
    }

    /// When a receipt should have come of what pays for one.
    fn answer_due(&self) -> Option<Instant> {
        let paid = self.rate().map(|rate| rate.transmission_time(ByteCount::new(PAID_FOR)));
        let pay = paid.unwrap_or(MAX_PAY_WAIT).min(MAX_PAY_WAIT);
        Some(self.unanswered?.since + self.receipt_trip()? + pay)
    }

    /// When a receipt should have come of anything.
    fn told_due(&self) -> Option<Instant> {
        Some(self.silence.untold_since? + self.receipt_trip()? + MAX_PAY_WAIT)
    }

    /// The sooner of the two.
    fn look_due(&self) -> Option<Instant> {
        [self.answer_due(), self.told_due()].into_iter().flatten().min()
    }

    /// From a packet to its receipt, where the receipt need not wait until it is paid for.
    fn receipt_trip(&self) -> Option<Duration> {
        let rtt = self.model.full_rtt().max(self.recent_max_rtt())?;
        Some(rtt.mul_f64(RTT_SHARE) + MARGIN)
    }

    /// A receipt has come, of all but `bytes`.
    fn on_receipt(&mut self, now: Instant, bytes: u64) -> Option<Instant> {
        let goes_on = bytes > 0 && self.model.has_prompt_receipts();
        self.unanswered = goes_on.then_some(Unanswered { since: now, bytes });
        self.on_alive();
        self.silence.untold_since = goes_on.then_some(now);
        self.look_due()
    }

    /// A packet has been out for longer than any waits for its receipt.
    fn is_untold(&self, now: Instant) -> bool {
        self.told_due().is_some_and(|due| due <= now)
    }

    /// Three times in a row nothing has told of a packet that went out, until the time when a receipt should have, even
    /// one that waits until it is paid for; says whether that is so now.
    fn has_missed(&mut self, now: Instant, counts: bool) -> bool {
        if self.is_silent() || !self.is_untold(now) {
            return false;
        }
        self.silence.untold_since = None;
        self.silence.missed = self.silence.missed.saturating_add(u8::from(counts));
        counts && self.silence.missed >= MAX_OVERDUE
    }

    /// Whether it is silent because receipts stay away: what it has under way is lost, or as late as if it were.
    pub(crate) fn owes_receipts(&self) -> bool {
        self.silence.by_receipts
    }

    /// True while the link is believed dead: it gets probes and no data.
    pub fn is_silent(&self) -> bool {
        self.silence.since.is_some()
    }

    /// Something that went over this link at `sent` has arrived. A receipt should have told that; what was sent later
    /// is unanswered. Where receipts stay away, it may have gone long before: the news came another way.
    pub(crate) fn on_arrival(&mut self, sent: Instant) {
        if let Some(unanswered) = &mut self.unanswered {
            unanswered.since = unanswered.since.max(sent);
        }
        if !self.silence.by_receipts {
            self.on_alive();
        }
    }

    /// Something arrives over this link now.
    pub(crate) fn on_alive(&mut self) {
        self.silence = Silence::default();
    }

    /// Whether receipts come, or are not due yet: what was sent before the latest has come out of the link, or receipts
    /// say that it is lost.
    fn answers(&self, now: Instant) -> bool {
        self.model.has_prompt_receipts() && self.answer_due().is_none_or(|due| now < due)
    }

    /// A packet was given up by its age; says whether that makes the link a silent one. Not where receipts come: then
    /// it is the way of the ACKs that is silent.
    pub(super) fn on_overdue(&mut self, now: Instant) -> bool {
        if self.answers(now) {
            return false;
        }
        self.silence.overdue = self.silence.overdue.saturating_add(1);
        let new = self.silence.overdue >= MAX_OVERDUE && !self.is_silent();
        if new {
            self.silence.since = Some(now);
            self.model.on_silent();
        }
        new
    }

    /// Ends a silence that probes could not end because the receiver does not report duplicates, or because no flow has
    /// anything to probe with. The next packet overdue begins another, or the next that no receipt tells of.
    pub(crate) fn forgive_silence(&mut self, now: Instant) {
        let is_asked = self.probe.open.is_some() || self.probe.unanswered > 0;
        let mute = self.probe.unanswered >= MAX_UNANSWERED || !is_asked;
        if mute && self.silence.since.is_some_and(|since| now.saturating_since(since) > SILENCE_LIMIT) {
            self.silence =
                Silence { overdue: MAX_OVERDUE - 1, missed: MAX_OVERDUE - 1, ..Silence::default() };
        }
    }
}

impl LinkTable {
    /// A receipt has come over a link, of all but `bytes` of what was sent there.
    pub(crate) fn note_receipt(&mut self, now: Instant, id: LinkId, bytes: u64) {
        let due = self.get_mut(id).and_then(|link| link.on_receipt(now, bytes));
        self.await_answer(due);
    }

    pub(super) fn await_answer(&mut self, due: Option<Instant>) {
        self.answers_due = [due, self.answers_due].into_iter().flatten().min();
    }

    /// Links over which receipts should have come are silent, as long as another one lives; says whether there are any
    /// new ones.
    pub(crate) fn expire_answers(&mut self, now: Instant) -> bool {
        let Some(due_at) = self.answers_due.filter(|at| *at <= now) else { return false };
        let late = now.saturating_since(due_at) > LATE;
        let is_overdue = |link: &Link| !link.is_silent() && link.answer_due().is_some_and(|due| due <= now);
        let lives =
            |link: &Link| link.usable && link.model.is_measured() && !link.is_silent() && !is_overdue(link);
        let another_lives = self.up().any(|(_, link)| lives(link));
        // Of what is too little to be shared out, one link carries all, and the others stand by.
        let could_carry =
            |link: &Link| link.model.has_receipts() && !link.is_silent() && !link.is_untold(now);
        let another_could = self.up().any(|(_, link)| could_carry(link));
        let up: Vec<(LinkId, bool)> = self.up().map(|(id, link)| (id, is_overdue(link))).collect();
        let mut any = false;
        for (id, is_overdue) in up {
            let Some(link) = self.get_mut(id) else { continue };
            let has_missed = link.has_missed(now, !late && another_could);
            if !is_overdue && !has_missed {
                continue;
            }
            let owes = link.unanswered.is_some_and(|unanswered| unanswered.bytes >= PAID_FOR);
            if !has_missed && (late || !another_lives || !owes) {
                // It has as much time again, if anything is still to be told of.
                let goes_on = owes && link.variables.in_flight_bytes > 0;
                link.unanswered = link
                    .unanswered
                    .filter(|_| goes_on)
                    .map(|unanswered| Unanswered { since: now, ..unanswered });
                continue;
            }
            link.silence = Silence { since: Some(now), by_receipts: true, ..link.silence };
            link.unanswered = None;
            link.probe.next = now;
            link.model.on_silent();
            self.events.note(ProxyEvent::LinkSilent { link: id });
            any = true;
        }
        if any {
            self.probes_from = Instant::ZERO;
        }
        let waiting = self.up().filter(|(_, link)| !link.is_silent());
        self.answers_due = waiting.filter_map(|(_, link)| link.look_due()).min();
        any
    }
}
