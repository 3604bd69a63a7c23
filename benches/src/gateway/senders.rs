//! What senders do: begin, answer ACKs with as much as their windows allow, and send again what is not acknowledged.
use super::{Gateway, LARGEST_WINDOW_BYTES, MAX_DOUBLINGS, TIMEOUT};
use crate::traffic::{PAYLOAD_BYTES, WINDOW_SHIFT};
use prismux_prism::AckRewrite;
use prismux_units::Instant;
use prismux_wire::{SeqNumber, TcpFlags, TcpHeader, Timestamps};

impl Gateway {
    pub(super) fn begins_at(&self) -> Instant {
        Instant::ZERO + self.begin_every * self.begun as u64
    }

    /// The next flow begins.
    pub(super) fn begin(&mut self) {
        let number = self.begun as u32;
        self.begun += 1;
        let (flow, sender) = &mut self.flows[number as usize];
        flow.open();
        sender.edge = flow.next;
        self.send_syn(number);
    }

    fn send_syn(&mut self, number: u32) {
        let (flow, sender) = &mut self.flows[number as usize];
        sender.progress_at = self.now;
        let (key, header) = (flow.key, flow.syn(self.now));
        if self.is_plain {
            return self.forward(0, (number, header.seq), None);
        }
        self.proxy.handle_data(self.now, key, &header, 0, (number, header.seq));
        self.drain();
    }

    /// An ACK reaches a sender, and what it sends then the proxy.
    pub(super) fn answer(&mut self, number: u32, rewrite: &AckRewrite) {
        let now = self.now;
        let (flow, sender) = &mut self.flows[number as usize];
        // The window of a SYN-ACK is never scaled (RFC 7323 section 2.2).
        let shift = if sender.is_open { WINDOW_SHIFT } else { 0 };
        sender.is_open = true;
        sender.echo = rewrite.tsval.unwrap_or(sender.echo);
        let edge = rewrite.ack + (u32::from(rewrite.window) << shift);
        sender.edge = if edge.after(sender.edge) { edge } else { sender.edge };
        if rewrite.ack.after(flow.released) {
            let bytes = rewrite.ack.0.wrapping_sub(flow.released.0);
            flow.released = rewrite.ack;
            sender.progress_at = now;
            sender.timeouts = 0;
            sender.window_bytes = (sender.window_bytes + bytes).min(LARGEST_WINDOW_BYTES);
            if let Some((_, sent)) = sender.timed.take_if(|(end, _)| !end.after(rewrite.ack)) {
                sender.round_trip = now.saturating_since(sent);
            }
            sender.recover.take_if(|end| !end.after(rewrite.ack));
            if sender.recover.is_some() {
                let seq = flow.released;
                self.send(number, seq);
            }
        }
        loop {
            let (flow, sender) = &mut self.flows[number as usize];
            let end = flow.next + PAYLOAD_BYTES;
            let is_shut = self.heeds_windows && end.after(sender.edge);
            if end.after(flow.released + sender.window_bytes) || is_shut {
                return;
            }
            let seq = std::mem::replace(&mut flow.next, end);
            sender.timed.get_or_insert((end, now));
            self.send(number, seq);
        }
    }

    /// A sender whose packets are not acknowledged sends the first of them again.
    pub(super) fn expire(&mut self, number: u32) {
        let now = self.now;
        let (flow, sender) = &mut self.flows[number as usize];
        let patience = (TIMEOUT + sender.round_trip * 2) * (1 << sender.timeouts.min(MAX_DOUBLINGS));
        if now.saturating_since(sender.progress_at) <= patience {
            return;
        }
        if !sender.is_open {
            self.send_syn(number);
        } else if flow.next.after(flow.released) {
            self.timeouts += 1;
            sender.progress_at = now;
            sender.window_bytes = PAYLOAD_BYTES;
            sender.timeouts += 1;
            (sender.recover, sender.timed) = (Some(flow.next), None);
            let seq = flow.released;
            self.send(number, seq);
        }
    }

    pub(super) fn send(&mut self, number: u32, seq: SeqNumber) {
        let (flow, sender) = &self.flows[number as usize];
        let (key, mut header) = (flow.key, TcpHeader { seq, ..flow.header(self.now, TcpFlags::ACK) });
        header.options.timestamps =
            header.options.timestamps.map(|own| Timestamps { echo: sender.echo, ..own });
        if self.is_plain {
            return self.forward(0, (number, seq), None);
        }
        let (now, proxy) = (self.now, &mut self.proxy);
        self.costs.data.time(self.clock_s, || {
            proxy.handle_data(now, key, &header, PAYLOAD_BYTES, (number, seq));
        });
        self.drain();
    }
}
