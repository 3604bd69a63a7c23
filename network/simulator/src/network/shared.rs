//! Packets on media that many share: exits into them, and what becomes of a frame.
use super::{Network, Target};
use crate::core::ids::{MediumId, NO_FLOW, NodeId, PortId};
use crate::core::packet::{Carried, PacketHandle, Transit};
use crate::media::medium::{Frame, MediumEvent, Priority};
use crate::media::shared::{MediumExit, SharedMedium};
use crate::nodes::rule::Forwarding;
use prismux_endpoint::Deadline;
use prismux_trace::event::{DropReason, Event};
use prismux_units::Instant;

impl Network {
    /// Hands a packet to the medium that an exit leads into.
    #[cold]
    pub fn send_on_medium(&mut self, exit: PortId, size_bytes: u32, carried: Carried) {
        let MediumExit { medium, from, to } = self.medium_exits[exit.index() - self.ports.len()];
        let frame =
            Frame { from, to: Some(to), priority: Priority::Normal, packet: Transit { size_bytes, carried } };
        if let Err(frame) = self.put_on_medium(medium, frame) {
            self.unheard(frame.packet);
        }
    }

    /// Puts a frame on a medium.
    ///
    /// # Errors
    /// The frame, when the medium has no room for it.
    pub fn put_on_medium(&mut self, medium: MediumId, frame: Frame) -> Result<(), Frame> {
        let Frame { from, packet, .. } = frame;
        self.media[medium.index()].medium.send(self.now, frame)?;
        if let Some(observer) = &mut self.observer {
            observer.queued(self.now, from, &self.pool, packet.carried.packet);
        }
        self.arm_medium(medium);
        Ok(())
    }

    /// Something may have happened on a medium.
    #[inline(never)] // Rare: the loop stays small.
    pub fn medium_event(&mut self, medium: MediumId) {
        let at = medium.index();
        if !self.media[at].alarm.rings(self.now) {
            return;
        }
        self.drain_medium(medium);
        // What the medium does next, it does at once where nothing else is due before: most of its events come alone.
        while self.local.is_empty()
            && let Some(before) = self.queue.quiet_until().as_nanos().checked_sub(1)
            && let last = self.limit.min(Instant::from_nanos(before))
            && let Some(next) = self.media[at].medium.advance(last)
        {
            self.now = next;
            self.drain_medium(medium);
        }
        self.arm_medium(medium);
    }

    /// All that has happened on a medium by now.
    fn drain_medium(&mut self, medium: MediumId) {
        let at = medium.index();
        let mut hearers = std::mem::take(&mut self.media[at].hearers);
        while let Some(event) = self.media[at].medium.poll_event(self.now, &mut hearers) {
            match event {
                MediumEvent::Crossed(frame) => self.spread(medium, frame, false, &mut hearers),
                MediumEvent::Heard(frame) => self.spread(medium, frame, true, &mut hearers),
                MediumEvent::Done(frame) => self.acknowledge(frame.packet),
                MediumEvent::Undelivered(frame) => self.hand_back(medium, frame),
                MediumEvent::Refused(frame) => self.lose_at_medium(&frame, DropReason::QueueFull),
                MediumEvent::Unresolved(frame) => self.lose_at_medium(&frame, DropReason::Unresolved),
                MediumEvent::OnAir(frame) => self.tell_frame(medium, frame),
                MediumEvent::Missed { frame, cause } => self.tell_missed(medium, &frame, cause),
                MediumEvent::Leads { host, from, over } => {
                    self.lead_to(host, over);
                    self.observe(|names| Event::CellChanged {
                        node: names.node(host),
                        from: Some(names.node(from)),
                        to: Some(names.node(over)),
                        channel: None,
                    });
                }
                MediumEvent::Free(node) => {
                    if let Some(place) = self.rule_of(node) {
                        self.with_rule(place, |rule, context| rule.medium_free(context, medium));
                    }
                }
            }
            hearers.clear();
        }
        self.media[at].hearers = hearers;
    }

    /// A frame begins.
    #[cold]
    fn tell_frame(&mut self, medium: MediumId, frame: Option<Frame>) {
        if let Some(observer) = &mut self.observer {
            let shared = &self.media[medium.index()].medium;
            let packet = frame.map(|frame| (frame.packet.carried.packet, frame.packet.size_bytes));
            if !shared.frame_head().is_empty() {
                observer.on_air(self.now, medium, shared.frame_head(), packet, &self.pool);
            }
            if let Some(sent) = shared.frame_sent() {
                let flow = packet.map(|(packet, _)| self.pool.packet(packet).flow);
                let about = frame.or(sent.announces).map(|frame| frame.packet.carried.packet);
                let of_flow = |handle: &PacketHandle| self.pool.get(*handle).flow != NO_FLOW;
                let number = about.filter(of_flow).and_then(|packet| self.pool.number(packet));
                observer.frame_sent(self.now, medium, &sent, (flow, number));
            }
        }
    }

    /// A frame has not come to the neighbour it is for.
    #[cold]
    fn tell_missed(&mut self, medium: MediumId, frame: &Frame, cause: &'static str) {
        let Frame { from, to: Some(to), packet, .. } = *frame else { return };
        let handle = packet.carried.packet;
        let number = self.pool.number(handle).filter(|_| self.pool.get(handle).flow != NO_FLOW);
        if let (Some(observer), Some(number)) = (&mut self.observer, number) {
            observer.frame_lost(self.now, medium, [from, to], (cause, number));
        }
    }

    /// Tells the event log where hosts are that have moved, and of those whose queues or energy have changed.
    #[cold]
    pub fn tell_places(&mut self) {
        let Some(observer) = &mut self.observer else { return };
        for shared in &mut self.media {
            for (node, place_m) in shared.medium.places(self.now) {
                observer.place(self.now, node, place_m);
            }
            for (node, state) in shared.medium.states(self.now) {
                observer.state(self.now, node, state);
            }
        }
    }

    /// Sets the next event of a medium.
    pub fn arm_medium(&mut self, medium: MediumId) {
        let SharedMedium { medium: shared, alarm, .. } = &mut self.media[medium.index()];
        let next = shared.poll_timeout().map(|at| Deadline { at, why: "medium" });
        if let Some(at) = alarm.set(self.now, next) {
            self.queue.push(at, Target::Medium(medium));
        }
    }

    /// Everybody who hears a frame gets what is for it; nodes with rules of their own also hear what is not. A frame
    /// that `stays` on the medium is still to reach others.
    fn spread(&mut self, medium: MediumId, frame: Frame, stays: bool, hearers: &mut Vec<NodeId>) {
        let Frame { from, to, packet, .. } = frame;
        for &node in hearers.iter().filter(|&&node| to.is_some_and(|to| to != node)) {
            if let Some(place) = self.rule_of(node) {
                self.with_rule(place, |rule, context| rule.overhear(context, medium, &frame));
            }
        }
        hearers.retain(|&node| self.takes(node, &frame));
        let copies = if stays { hearers.len() } else { hearers.len().saturating_sub(1) };
        for (index, &node) in hearers.iter().enumerate() {
            let mut carried = packet.carried;
            if index < copies {
                carried.packet = self.pool.duplicate(carried.packet);
                self.counters.copied += 1;
            }
            self.hand_in(medium, from, node, Transit { carried, ..packet });
        }
        if hearers.is_empty() && !stays {
            self.unheard(packet);
        }
    }

    /// Gives a node what it has heard.
    fn hand_in(&mut self, medium: MediumId, from: NodeId, node: NodeId, packet: Transit) {
        match self.forwarding[node.index()] {
            Forwarding::Table => self.pass(node, packet.size_bytes, packet.carried),
            Forwarding::Rule(place) => {
                self.with_rule(place, |rule, context| rule.receive(context, medium, from, packet));
            }
        }
    }

    /// Gives a frame for a neighbour back to a sender with a rule of its own.
    fn hand_back(&mut self, medium: MediumId, Frame { from, to, packet, .. }: Frame) {
        match self.rule_of(from).zip(to) {
            Some((place, to)) => {
                self.with_rule(place, |rule, context| rule.undelivered(context, medium, to, packet));
            }
            None => self.unheard(packet),
        }
    }

    /// Whether a node that hears a frame takes it in: hosts and routers ignore frames for all that end elsewhere.
    fn takes(&self, node: NodeId, frame: &Frame) -> bool {
        let for_all = frame.to.is_none();
        let wanted = self.rule_of(node).is_some() || frame.packet.carried.towards == node;
        frame.to == Some(node) || for_all && wanted
    }

    /// All who hear a packet have copies of it.
    fn acknowledge(&mut self, packet: Transit) {
        self.counters.acknowledged += 1;
        self.pool.discard(packet.carried.packet);
    }

    /// A packet is lost before it has been on a medium.
    fn lose_at_medium(&mut self, Frame { from, packet, .. }: &Frame, reason: DropReason) {
        let handle = packet.carried.packet;
        let (lost, number) = (self.pool.packet(handle), self.pool.number(handle));
        self.observe_drop(*from, reason, (&lost, number));
        self.unheard(*packet);
    }

    /// Nobody takes a packet on a medium.
    pub fn unheard(&mut self, packet: Transit) {
        self.counters.unheard += 1;
        self.pool.discard(packet.carried.packet);
    }
}
