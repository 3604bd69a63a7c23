//! The interfaces of a host, and which news mean that a handoff is complete.
use super::news::LinkNews;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// A change that matters to connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Move {
    /// An interface can be used from now on, or by another address.
    Complete {
        /// Its name.
        interface: String,
        /// The address that came last, or the first of those it has.
        address: IpAddr,
    },
    /// An interface cannot be used any more.
    Lost {
        /// Its name.
        interface: String,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Interface {
    name: String,
    running: bool,
    addresses: BTreeSet<IpAddr>,
}

impl Interface {
    fn is_usable(&self) -> bool {
        self.running && !self.addresses.is_empty() && !self.name.is_empty()
    }
}

/// Interfaces by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InterfaceTable {
    interfaces: BTreeMap<u32, Interface>,
}

impl InterfaceTable {
    /// Takes in one piece of news. What is known already changes nothing.
    pub fn take(&mut self, news: LinkNews) -> Option<Move> {
        let index = match news {
            LinkNews::Link { index, .. }
            | LinkNews::LinkGone { index }
            | LinkNews::Address { index, .. }
            | LinkNews::AddressGone { index, .. } => index,
            LinkNews::Done | LinkNews::Refused(_) => return None,
        };
        let before = self.interfaces.get(&index).cloned().unwrap_or_default();
        let mut newest = None;
        match news {
            LinkNews::LinkGone { .. } => {
                self.interfaces.remove(&index);
            }
            LinkNews::Link { name, running, .. } => {
                let interface = self.interfaces.entry(index).or_default();
                (interface.name, interface.running) = (name, running);
            }
            LinkNews::Address { address, .. } => {
                if self.interfaces.entry(index).or_default().addresses.insert(address) {
                    newest = Some(address);
                }
            }
            LinkNews::AddressGone { address, .. } => {
                if let Some(interface) = self.interfaces.get_mut(&index) {
                    interface.addresses.remove(&address);
                }
            }
            LinkNews::Done | LinkNews::Refused(_) => {}
        }
        let after = self.interfaces.get(&index).cloned().unwrap_or_default();
        compare(&before, &after, newest)
    }

    /// Takes another view of the whole in place of this one; what has changed in between.
    pub fn replace(&mut self, newer: Self) -> Vec<Move> {
        let older = std::mem::replace(self, newer);
        let indices: BTreeSet<u32> = older.interfaces.keys().chain(self.interfaces.keys()).copied().collect();
        let nothing = Interface::default();
        let change = |index: u32| {
            let before = older.interfaces.get(&index).unwrap_or(&nothing);
            let after = self.interfaces.get(&index).unwrap_or(&nothing);
            compare(before, after, after.addresses.difference(&before.addresses).next().copied())
        };
        indices.into_iter().filter_map(change).collect()
    }

    /// Names of the interfaces that can be used.
    pub fn usable(&self) -> impl Iterator<Item = &str> {
        self.interfaces.values().filter(|interface| interface.is_usable()).map(|i| i.name.as_str())
    }
}

fn compare(before: &Interface, after: &Interface, newest: Option<IpAddr>) -> Option<Move> {
    if !after.is_usable() {
        return before.is_usable().then(|| Move::Lost { interface: before.name.clone() });
    }
    if before.is_usable() && newest.is_none() {
        return None;
    }
    let address = newest.or_else(|| after.addresses.first().copied())?;
    Some(Move::Complete { interface: after.name.clone(), address })
}
