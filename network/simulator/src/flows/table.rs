//! All flows of a run, and where their ends are kept.
use super::flow::Flow;
use super::tcp::pair::TcpPair;
use super::transport::{Built, BuiltFlow};
use crate::core::ids::{EndpointId, FlowId, Place};
use crate::core::site::Site;

/// The flows of a run, by number.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    /// Both ends of every TCP connection: what most packets are for, found without a look-up.
    pub tcp: Vec<TcpPair>,
    others: Vec<Other>,
    /// Of the ends of other flows, by place.
    ends: Vec<OtherEnd>,
    sites: Vec<Site>,
    /// By flow.
    slots: Vec<Slot>,
}

/// A flow that is called by way of [`Flow`].
#[derive(Debug)]
struct Other {
    flow: Box<dyn Flow>,
    /// Its sites: from, to.
    sites: (u32, u32),
}

/// Whose end it is, and its number there.
#[derive(Debug, Clone, Copy)]
struct OtherEnd {
    flow: FlowId,
    number: u32,
}

#[derive(Debug, Clone, Copy)]
enum Slot {
    Tcp(u32),
    Other(u32),
}

impl Flows {
    /// Adds the next flow.
    pub fn push(&mut self, built: BuiltFlow) {
        let id = FlowId(self.slots.len() as u32);
        match built.0 {
            Built::Tcp(pair) => {
                self.slots.push(Slot::Tcp(self.tcp.len() as u32));
                self.tcp.push(*pair);
            }
            Built::Other { flow, sites } => {
                self.slots.push(Slot::Other(self.others.len() as u32));
                let first = self.sites.len() as u32;
                self.ends.extend((0..sites.len() as u32).map(|number| OtherEnd { flow: id, number }));
                self.sites.extend(sites);
                self.others.push(Other { flow, sites: (first, self.sites.len() as u32) });
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// The number of the next TCP connection, and the place of the next end of another flow.
    pub fn next_places(&self) -> (u32, u32) {
        (self.tcp.len() as u32, self.sites.len() as u32)
    }

    /// A flow.
    pub fn get(&self, id: FlowId) -> &dyn Flow {
        match self.slots[id.index()] {
            Slot::Tcp(pair) => &self.tcp[pair as usize],
            Slot::Other(other) => &*self.others[other as usize].flow,
        }
    }

    /// A flow and the sites of its ends.
    pub fn get_mut(&mut self, id: FlowId) -> (&mut dyn Flow, &[Site]) {
        match self.slots[id.index()] {
            Slot::Tcp(pair) => (&mut self.tcp[pair as usize], &[]),
            Slot::Other(other) => {
                let Other { flow, sites: (from, to) } = &mut self.others[other as usize];
                (&mut **flow, &self.sites[*from as usize..*to as usize])
            }
        }
    }

    /// Both ends of a flow that is TCP's.
    pub fn tcp_mut(&mut self, id: FlowId) -> Option<&mut TcpPair> {
        match self.slots[id.index()] {
            Slot::Tcp(pair) => Some(&mut self.tcp[pair as usize]),
            Slot::Other(_) => None,
        }
    }

    /// The sites of all ends.
    pub fn sites_mut(&mut self) -> impl Iterator<Item = &mut Site> {
        let tcp = self.tcp.iter_mut().flat_map(|pair| &mut pair.ends).map(|end| &mut end.site);
        tcp.chain(&mut self.sites)
    }

    /// Whose end it is, and which of its flow's ends; `None` for packets that are no flow's.
    pub fn owner(&self, endpoint: EndpointId) -> Option<(FlowId, usize)> {
        match endpoint.place() {
            Place::Tcp { pair, end } => Some((self.tcp[pair].ends[end].site.flow, end)),
            Place::Other(place) => self.ends.get(place).map(|end| (end.flow, end.number as usize)),
        }
    }

    /// Where an end sits.
    pub fn site(&self, endpoint: EndpointId) -> Option<&Site> {
        match endpoint.place() {
            Place::Tcp { pair, end } => Some(&self.tcp[pair].ends[end].site),
            Place::Other(place) => self.sites.get(place),
        }
    }
}
