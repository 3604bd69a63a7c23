//! Flows of which only one end has been heard: they make room for others when the table is full, the oldest first.
//!
//! Anybody can open them with packets of invented addresses; without this a full table would turn bonding off for
//! everybody else.
use crate::flow::Flow;
use crate::flow_table::FlowTable;
use alloc::collections::VecDeque;
use prismux_wire::FlowKey;

/// Flows in order of their beginning; those that have been confirmed, or are gone, count no more.
#[derive(Debug, Default)]
pub(super) struct Unconfirmed {
    began: VecDeque<(u32, FlowKey)>,
}

impl Unconfirmed {
    /// A flow has begun.
    pub(super) fn note<P: Clone>(
        &mut self,
        number: u32,
        key: FlowKey,
        flows: &FlowTable<P>,
        max_flows: usize,
    ) {
        if self.began.len() >= (2 * max_flows).max(16) {
            self.began.retain(|began| is_unconfirmed(flows, began));
        }
        self.began.push_back((number, key));
    }

    /// Takes out the one that began first.
    pub(super) fn oldest<P: Clone>(&mut self, flows: &FlowTable<P>) -> Option<u32> {
        while let Some(began) = self.began.pop_front() {
            if is_unconfirmed(flows, &began) {
                return Some(began.0);
            }
        }
        None
    }
}

fn is_unconfirmed<P: Clone>(flows: &FlowTable<P>, (number, key): &(u32, FlowKey)) -> bool {
    let is_so = |flow: &Flow<P>| flow.key == *key && !flow.evidence.confirmed;
    flows.get(*number).is_some_and(is_so)
}
