//! Interfaces that go down: the kernel says so before anything sent finds out.
use nix::ifaddrs::getifaddrs;
use nix::libc;
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, socket,
};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// A socket that becomes readable whenever some interface comes, goes or changes.
pub(super) struct InterfaceWatch(OwnedFd);

impl InterfaceWatch {
    /// Begins to watch.
    pub(super) fn open() -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let watch = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRoute)?;
        bind(watch.as_raw_fd(), &NetlinkAddr::new(0, libc::RTMGRP_LINK as u32))?;
        Ok(Self(watch))
    }

    /// Takes away what was said. What is true now is asked for afresh, so that nothing depends on having heard all of it.
    pub(super) fn hear(&self) {
        let mut said = [0; 8192];
        while recv(self.0.as_raw_fd(), &mut said, MsgFlags::MSG_DONTWAIT).is_ok() {}
    }
}

impl AsFd for InterfaceWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Whether there is an interface of this name, and switched on.
pub(super) fn is_up(name: &str) -> io::Result<bool> {
    let mut entries = getifaddrs()?;
    Ok(entries.any(|entry| entry.interface_name == name && entry.flags.contains(InterfaceFlags::IFF_UP)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_is_up_and_an_unknown_one_is_not() {
        assert!(is_up("lo").expect("a list of interfaces"));
        assert!(!is_up("nonesuch0").expect("a list of interfaces"));
    }

    #[test]
    fn a_watch_without_news_has_nothing_to_say() {
        InterfaceWatch::open().expect("a netlink socket").hear();
    }
}
