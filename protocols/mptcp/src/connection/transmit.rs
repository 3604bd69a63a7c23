//! Leaving segments: what subflows have to say by themselves comes first, then bytes for those with room.
use super::{Connection, Mode, State};
use crate::config::Scheduler;
use crate::scheduler::{BURST_BYTES, Offer};
use crate::segment::SegmentOut;
use crate::subflow::Subflow;
use core::ops::Range;
use prismux_units::Instant;

impl Connection {
    pub(super) fn transmit(&mut self, now: Instant) -> Option<SegmentOut> {
        if let Some(segment) = self.resets.pop_front() {
            return Some(SegmentOut { segment, stream_offset: 0 });
        }
        for place in 0..self.subflows.len() {
            if let Some(out) = self.speak(now, place) {
                return Some(out);
            }
        }
        let sent = self.give_bytes(now);
        if sent.is_none() {
            self.watch(now);
        }
        sent
    }

    /// The next segment of the subflow at `place` of what it has.
    fn speak(&mut self, now: Instant, place: usize) -> Option<SegmentOut> {
        if !self.subflows[place].resumed {
            return None;
        }
        let spoken = self.subflows[place].poll(now);
        if spoken.is_none() {
            self.subflows[place].resumed = false;
        }
        spoken.map(|spoken| self.dress(place, spoken))
    }

    /// Gives bytes to subflows until one of them sends something.
    fn give_bytes(&mut self, now: Instant) -> Option<SegmentOut> {
        if !matches!(self.state, State::Established) {
            return None;
        }
        let had_sent_all = self.has_sent_all();
        let sent = loop {
            if self.mode != Mode::Plain
                && let Some(sent) = self.give_reinjection(now)
            {
                break Some(sent);
            }
            let attempt = match self.config.scheduler {
                _ if self.mode == Mode::Plain => self.give_one(now, |connection| connection.plain_choice()),
                Scheduler::Linux => self.give_burst(now),
                Scheduler::Redundant => self.give_everyone(now),
                _ => self.give_one(now, |connection| connection.choose(now)),
            };
            match attempt {
                Attempt::Sent(out) => break Some(out),
                Attempt::Full => {}
                Attempt::Nothing => break None,
            }
        };
        if !had_sent_all && self.has_sent_all() {
            self.signal_end();
        }
        sent
    }

    /// Fills the views of the subflows. Backups count only where no other lives (section 3.3.8).
    fn look(&mut self) {
        let mut views = core::mem::take(&mut self.views);
        views.clear();
        let others = self.subflows.iter().any(|subflow| subflow.is_live() && !subflow.is_backup());
        views.extend(
            self.subflows
                .iter()
                .map(|subflow| subflow.view(subflow.is_live() && !(subflow.is_backup() && others))),
        );
        if views.iter().all(|view| !view.usable) {
            // In trouble all of them: any is better than none.
            for (view, subflow) in views.iter_mut().zip(&self.subflows) {
                view.usable = subflow.can_send();
            }
        }
        self.views = views;
    }

    fn offer(&self, now: Instant) -> Offer {
        let buffer = &self.send_buffer;
        Offer {
            now,
            next_byte: buffer.frontier,
            unsent_bytes: buffer.written - buffer.frontier,
            window_bytes: buffer.window_end.saturating_sub(buffer.frontier),
            was_blocked: buffer.is_blocked(),
        }
    }

    fn choose(&mut self, now: Instant) -> Option<usize> {
        self.look();
        if self.send_buffer.is_blocked() {
            self.repeat_for_window(now);
        }
        self.chooser.choose(&self.views, &self.offer(now))
    }

    fn plain_choice(&mut self) -> Option<usize> {
        self.look();
        self.views.first().is_some_and(|view| view.usable && view.has_room).then_some(0)
    }

    /// A segment's worth of new bytes for the subflow that `choose` names.
    fn give_one(&mut self, now: Instant, choose: impl Fn(&mut Self) -> Option<usize>) -> Attempt {
        if !self.send_buffer.has_work() {
            return Attempt::Nothing;
        }
        let Some(place) = choose(self) else { return Attempt::Nothing };
        let most = u64::from(self.subflows[place].engine().mss());
        let Some(range) = self.send_buffer.new_bytes(most, u64::MAX) else {
            return match self.give_reinjection(now) {
                Some(sent) => Attempt::Sent(sent),
                None => Attempt::Nothing,
            };
        };
        match self.try_bytes(now, place, &range) {
            Some(out) => {
                self.send_buffer.take(&range);
                Attempt::Sent(out)
            }
            None => Attempt::Full,
        }
    }

    /// Every subflow with room gets its own next bytes.
    fn give_everyone(&mut self, now: Instant) -> Attempt {
        self.look();
        let acked = self.send_buffer.acked;
        let end = self.send_buffer.written.min(self.send_buffer.window_end);
        for place in 0..self.subflows.len() {
            let view = self.views[place];
            let start = self.subflows[place].cursor.max(acked);
            let range = start..end.min(start + u64::from(view.segment_bytes));
            if !(view.usable && view.has_room) || range.is_empty() {
                continue;
            }
            if let Some(out) = self.try_bytes(now, place, &range) {
                self.subflows[place].cursor = range.end;
                if range.start < self.send_buffer.frontier {
                    self.send_buffer.reinjected_bytes += range.end - range.start;
                }
                self.send_buffer.take(&range);
                return Attempt::Sent(out);
            }
        }
        Attempt::Nothing
    }

    /// As Linux: a burst of bytes is queued at one subflow, whether it may send them now or not.
    fn give_burst(&mut self, now: Instant) -> Attempt {
        let most = self.config.send_buffer.as_u64();
        let mut room = 0;
        for subflow in self.subflows.iter_mut().filter(|subflow| subflow.can_send()) {
            subflow.size_queue(most);
            room += subflow.queue_bytes();
        }
        let Some(range) = self.send_buffer.new_bytes(BURST_BYTES, room) else { return Attempt::Nothing };
        self.look();
        let offer = self.offer(now);
        let Some(place) = self.chooser.choose(&self.views, &offer) else { return Attempt::Nothing };
        let subflow = &mut self.subflows[place];
        subflow.average_rate_over(range.end - range.start);
        subflow.queue(&range);
        subflow.resume();
        self.send_buffer.take(&range);
        self.speak(now, place).map_or(Attempt::Full, Attempt::Sent)
    }

    /// Bytes that another subflow may not deliver, for the quickest with room. Linux repeats them only where nothing
    /// else is on the way, a burst at a time, or where their holder has been given up.
    fn give_reinjection(&mut self, now: Instant) -> Option<SegmentOut> {
        if !self.send_buffer.has_reinjections() {
            return None;
        }
        self.look();
        for _ in 0..self.subflows.len() {
            let candidates = self.views.iter().enumerate().filter(|(place, view)| {
                let has_room = view.usable && view.has_room && !self.subflows[*place].full;
                has_room && self.reinjection(*place, 1).is_some()
            });
            let (place, view) = candidates.min_by_key(|(_, view)| view.srtt)?;
            let is_idle = self.subflows[place].held_bytes() == 0;
            let bursts = self.config.scheduler == Scheduler::Linux && is_idle;
            let most = if bursts { BURST_BYTES } else { u64::from(view.segment_bytes) };
            let range = self.reinjection(place, most)?;
            let sent = match bursts {
                true => {
                    self.subflows[place].queue(&range);
                    self.subflows[place].resume();
                    self.speak(now, place)
                }
                false => self.try_bytes(now, place, &range),
            };
            if bursts || sent.is_some() {
                self.send_buffer.reinject(&range, place);
            }
            if sent.is_some() {
                return sent;
            }
        }
        None
    }

    fn reinjection(&self, place: usize, most: u64) -> Option<Range<u64>> {
        let is_linux = self.config.scheduler == Scheduler::Linux;
        let waits = is_linux && self.subflows[place].held_bytes() > 0;
        let is_gone = |holder: usize| self.subflows.get(holder).is_none_or(Subflow::is_given_up);
        self.send_buffer.reinjection_for(place, most, |holder| !waits || is_gone(holder))
    }

    /// Queues `range` at the subflow at `place` if it lets it go at once.
    fn try_bytes(&mut self, now: Instant, place: usize, range: &Range<u64>) -> Option<SegmentOut> {
        let subflow = &mut self.subflows[place];
        let before = subflow.next();
        subflow.queue(range);
        let spoken = subflow.poll(now);
        if subflow.next() < before + (range.end - range.start) {
            subflow.take_back();
        }
        let went = subflow.next() > before;
        subflow.full |= !went;
        // A segment always carries all of a stretch that is no longer than a segment.
        spoken.filter(|_| went).map(|spoken| self.dress(place, spoken))
    }

    /// The window is full: a subflow with room repeats what everybody waits for, and the slower one that holds it
    /// halves its window (C. Raiciu et al., NSDI 2012, section 4.2).
    fn repeat_for_window(&mut self, now: Instant) {
        let acked = self.send_buffer.acked;
        if !self.config.opportunistic_retransmission || acked < self.repeated_until {
            return;
        }
        let holder = |(place, subflow): (usize, &Subflow)| subflow.holds(acked).map(|held| (place, held));
        let Some((place, held)) = self.subflows.iter().enumerate().find_map(holder) else { return };
        let slow = self.views[place].srtt;
        let quicker = self.views.iter().any(|view| view.usable && view.has_room && view.srtt < slow);
        if !quicker {
            return;
        }
        let end = held.end.min(acked + u64::from(self.views[place].segment_bytes));
        self.repeated_until = end;
        self.send_buffer.release(acked..end, place);
        let subflow = &mut self.subflows[place];
        if self.config.penalisation && now.saturating_since(subflow.penalised_at) >= slow {
            subflow.penalised_at = now;
            subflow.tcp_mut().penalise();
        }
    }
}

/// What came of giving bytes away.
#[expect(
    clippy::large_enum_variant,
    reason = "one at a time, on the stack: a box would be an allocation for every packet"
)]
enum Attempt {
    Sent(SegmentOut),
    /// To a subflow that could not send them now: another may.
    Full,
    /// Nobody gets any.
    Nothing,
}
