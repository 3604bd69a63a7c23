//! Keys of a lab's sealed tunnels, in files without names that only its daemons are told of.
use super::memory_file;
use crate::LabError;
use crate::topology::{NodeIndex, Topology};
use prismux_daemons::config::new_private_key;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;

/// One daemon's key.
#[derive(Debug)]
struct Key {
    private: File,
    public: String,
}

/// The keys of all daemons: by node and by the proxy that it serves or is.
#[derive(Debug, Default)]
pub(crate) struct Keys(BTreeMap<(NodeIndex, NodeIndex), Key>);

impl Keys {
    /// One for each proxy and each of its members.
    ///
    /// # Errors
    /// When the operating system gives no randomness or no memory.
    pub fn of(topology: &Topology, proxies: &BTreeSet<NodeIndex>) -> Result<Self, LabError> {
        let mut keys = Self::default();
        for &proxy in proxies {
            keys.make(proxy, proxy)?;
            topology.members_of(proxy).iter().try_for_each(|&member| keys.make(member, proxy))?;
        }
        Ok(keys)
    }

    fn make(&mut self, node: NodeIndex, proxy: NodeIndex) -> Result<(), LabError> {
        let make = || -> io::Result<Key> {
            let (text, public) = new_private_key()?;
            let mut private = memory_file("key")?;
            private.set_permissions(Permissions::from_mode(0o600))?;
            private.write_all(text.as_bytes())?;
            Ok(Key { private, public })
        };
        self.0.insert((node, proxy), make().map_err(LabError::setup("make a key"))?);
        Ok(())
    }

    /// Where a daemon of this lab finds its private key.
    pub fn file(&self, node: NodeIndex, proxy: NodeIndex) -> String {
        let fd = self.0.get(&(node, proxy)).map_or(-1, |key| key.private.as_raw_fd());
        format!("/proc/{}/fd/{fd}", std::process::id())
    }

    /// A daemon's public key.
    pub fn public(&self, node: NodeIndex, proxy: NodeIndex) -> String {
        self.0.get(&(node, proxy)).map_or_else(String::new, |key| key.public.clone())
    }
}
