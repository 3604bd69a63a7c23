//! Members that stand in for one another: what they ask and answer, and whose packets they take.
use crate::core::ids::NodeId;
use crate::core::packet::{Content, IPV4_HEADER_BYTES, Transit, UDP_HEADER_BYTES};
use crate::nodes::context::NodeContext;
use prismux_endpoint::{Alarm, Deadline};
use prismux_receipts::{MESSAGE_BYTES, Question, UNANSWERED, WayBack, WayBackEvent};
use prismux_trace::event::{Event, LinkState};
use prismux_units::Duration;

/// Bytes of a question beside its frame: who asks, and its number.
const QUESTION_BYTES: u32 = 16;

/// A question whether packets pass, or the answer to it.
#[derive(Debug, Clone)]
struct Asked {
    /// Who asks whom.
    asker: NodeId,
    asked: NodeId,
    number: u64,
    is_answer: bool,
    /// Bytes beside an IP and a UDP header.
    header_bytes: usize,
}

impl Content for Asked {
    fn header_bytes(&self) -> usize {
        self.header_bytes
    }

    fn emit(&self, bytes: &mut [u8]) {
        let number = self.number.to_be_bytes();
        if let Some(room) = bytes.get_mut(..number.len()) {
            room.copy_from_slice(&number);
        }
    }
}

/// Takes a message from the network; `None`, and nothing happens, for anything else. A damaged one is gone.
fn take(context: &mut NodeContext<'_>, packet: Transit) -> Option<Option<Asked>> {
    context.content::<Asked>(&packet)?;
    // A damaged message fails its authentication.
    if context.network.pool.get(packet.carried.packet).damaged {
        context.discard(packet);
        return Some(None);
    }
    context.take::<Asked>(&packet).map(Some)
}

fn give_answer(context: &mut NodeContext<'_>, question: Asked) {
    let asker = question.asker;
    send(context, Asked { is_answer: true, ..question }, asker);
}

fn send(context: &mut NodeContext<'_>, message: Asked, to: NodeId) {
    let packet = context.originate(message, Some(to), 0);
    context.forward(packet);
}

/// The proxy answers a member's question. False, and nothing happens, for other packets.
pub(super) fn answer(context: &mut NodeContext<'_>, packet: Transit) -> bool {
    if !context.ends_here(&packet) {
        return false;
    }
    let Some(message) = take(context, packet) else { return false };
    if let Some(question) = message {
        give_answer(context, question);
    }
    true
}

/// A member's neighbours: members of the same proxy to which a link leads.
#[derive(Debug)]
pub(super) struct Neighbours {
    way: WayBack,
    nodes: Vec<NodeId>,
    proxy: NodeId,
    header_bytes: usize,
    alarm: Alarm,
}

impl Neighbours {
    /// For a member with these neighbours, whose tunnel to `proxy` adds `tunnel_bytes` to a packet. `round_trip` is
    /// that of its idle link.
    pub fn new(nodes: Vec<NodeId>, (proxy, tunnel_bytes): (NodeId, u32), round_trip: Duration) -> Self {
        let mut way = WayBack::new(nodes.len(), 0);
        way.measured(round_trip);
        let around_bytes = tunnel_bytes + MESSAGE_BYTES + QUESTION_BYTES;
        let header_bytes = around_bytes.saturating_sub(IPV4_HEADER_BYTES + UDP_HEADER_BYTES) as usize;
        Self { way, nodes, proxy, header_bytes, alarm: Alarm::new() }
    }

    /// Takes a question or an answer for this member. False, and nothing happens, for other packets.
    pub fn take(&mut self, context: &mut NodeContext<'_>, packet: Transit) -> bool {
        let Some(message) = take(context, packet) else { return false };
        let now = context.now();
        match message {
            None => {}
            Some(answer) if answer.is_answer && answer.asked == self.proxy => {
                self.way.answered(now, answer.number);
            }
            Some(answer) if answer.is_answer => {
                if let Some(index) = self.nodes.iter().position(|node| *node == answer.asked) {
                    self.way.neighbour_answered(now, index, answer.number);
                }
            }
            Some(question) if self.way.asked(now) => give_answer(context, question),
            Some(_) => {}
        }
        self.act(context);
        true
    }

    /// Something came from the proxy.
    pub fn heard(&mut self, context: &mut NodeContext<'_>) {
        self.way.heard(context.now());
    }

    /// Where a receiver's packet goes: to the proxy, or to a neighbour.
    pub fn towards(&mut self, context: &mut NodeContext<'_>) -> NodeId {
        let neighbour = self.way.way(context.now());
        let towards = neighbour.and_then(|index| self.nodes.get(index).copied()).unwrap_or(self.proxy);
        self.act(context);
        towards
    }

    /// A neighbour has handed a packet over: this member's link has to carry it.
    pub fn stands_in(&mut self, context: &mut NodeContext<'_>) {
        self.way.asked(context.now());
        self.act(context);
    }

    /// A time has come.
    pub fn timeout(&mut self, context: &mut NodeContext<'_>) {
        if self.alarm.rings(context.now()) {
            self.act(context);
        }
    }

    /// Asks what is due, and sets the next event.
    fn act(&mut self, context: &mut NodeContext<'_>) {
        let (now, asker) = (context.now(), context.node());
        while let Some(question) = self.way.poll_question(now) {
            let (asked, number) = match question {
                Question::Proxy { number } => (self.proxy, number),
                Question::Neighbour { index, number } => (self.nodes[index], number),
            };
            let message = Asked { asker, asked, number, is_answer: false, header_bytes: self.header_bytes };
            send(context, message, asked);
        }
        while let Some(event) = self.way.poll_event() {
            let (state, cause) = match event {
                WayBackEvent::Silent => (LinkState::Silent, Some(UNANSWERED.into())),
                WayBackEvent::Answers => (LinkState::Active, None),
            };
            context.network.observe(|names| {
                let (node, member) = (names.node(asker), names.node(asker));
                Event::LinkStateChanged { node, member, state, cause }
            });
        }
        let deadline = self.way.deadline().map(|at| Deadline { at, why: "way-back" });
        if let Some(at) = self.alarm.set(now, deadline) {
            context.wake(at);
        }
    }
}
