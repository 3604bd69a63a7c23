//! What the applications at the two ends of a TCP flow do when their connections have news.
use super::endpoint::Role;
use super::pair::TcpPair;
use crate::core::ids::EndpointId;
use crate::flows::application::{ENDLESS, Notes};
use crate::flows::context::FlowContext;
use crate::network::{Network, Target};
use prismux_plan::UPDATE_BYTES;
use prismux_tcp::Connection;

impl TcpPair {
    /// Lets the application of `end` act on `notes`, and on the notes that its acts produce, until it is content.
    #[cold]
    pub(crate) fn serve(&mut self, context: &mut FlowContext<'_>, end: usize, mut notes: Notes) {
        loop {
            let next = self.act(context, end, notes);
            match next {
                Some(more) if !self.ends[end].is_quiet(&more) => notes = more,
                _ => return,
            }
        }
    }

    fn act(&mut self, context: &mut FlowContext<'_>, end: usize, notes: Notes) -> Option<Notes> {
        if context.checks {
            self.refresh_check(end);
        }
        let more = if notes.ended { None } else { self.act_on_data(context, end, notes) };
        match notes.peer_closed && !notes.ended {
            true => Some(self.ends[end].with_connection(context.network, Connection::close)),
            false => more,
        }
    }

    fn act_on_data(&mut self, context: &mut FlowContext<'_>, end: usize, notes: Notes) -> Option<Notes> {
        let now = context.now();
        let tcp = &mut self.ends[end];
        let received = tcp.received();
        match &mut tcp.role {
            Role::Source { bytes } if notes.connected && *bytes < ENDLESS => {
                Some(tcp.with_connection(context.network, Connection::close))
            }
            Role::Source { .. } | Role::Writer { .. } => None,
            Role::Sink { updates } => {
                tcp.next_mark = context.progress(received);
                let updates = updates.as_mut()?;
                let due = received / updates.every - updates.written;
                updates.written += due;
                tcp.next_mark = tcp.next_mark.min(updates.next_mark());
                let bytes = due * UPDATE_BYTES;
                (due > 0).then(|| tcp.with_connection(context.network, |tcp| tcp.write(bytes)))
            }
            Role::Server { request_bytes, response_bytes, answered } => {
                let due = received / *request_bytes - *answered;
                *answered += due;
                let bytes = due * *response_bytes;
                tcp.next_mark = (*answered + 1) * *request_bytes;
                (due > 0).then(|| tcp.with_connection(context.network, |tcp| tcp.write(bytes)))
            }
            Role::Client(client) => {
                if client.answered == client.asked || received < client.response_bytes * client.asked {
                    return None;
                }
                client.answered = client.asked;
                client.waited.record(now - client.asked_at);
                tcp.next_mark = u64::MAX;
                if client.answered == client.exchanges {
                    context.record.finish(now);
                    let notes = tcp.with_connection(context.network, Connection::close);
                    context.settle(received);
                    return Some(notes);
                }
                wake(context.network, tcp.site.own, client.think);
                None
            }
        }
    }

    /// An application goes on: a client has thought long enough and asks again, or it is time for the next write.
    pub(super) fn go_on(&mut self, context: &mut FlowContext<'_>, end: usize) {
        if context.checks {
            self.refresh_check(end);
        }
        let now = context.now();
        let tcp = &mut self.ends[end];
        let open = tcp.is_open();
        if let (Role::Writer { bytes, every }, true) = (&tcp.role, open) {
            let bytes = *bytes;
            wake(context.network, tcp.site.own, *every);
            let notes = tcp.with_connection(context.network, |tcp| tcp.write(bytes));
            if !tcp.is_quiet(&notes) {
                self.serve(context, end, notes);
            }
            return;
        }
        let Role::Client(client) = &mut tcp.role else { return };
        if client.asked > client.answered || !open {
            return;
        }
        client.asked += 1;
        client.asked_at = now;
        tcp.next_mark = client.asked * client.response_bytes;
        let bytes = client.request_bytes;
        let notes = tcp.with_connection(context.network, |tcp| tcp.write(bytes));
        if !tcp.is_quiet(&notes) {
            self.serve(context, end, notes);
        }
    }
}

/// The application goes on after `think`.
pub(super) fn wake(network: &mut Network, own: EndpointId, think: prismux_units::Duration) {
    network.queue.push(network.now + think, Target::Application(own));
}
