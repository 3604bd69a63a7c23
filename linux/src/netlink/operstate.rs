//! Whether a device sends what it is given (RFC 2863, ifOperStatus).
use super::{LINK_HEADER_BYTES, Message, Netlink, NetlinkError, attributes, device_index, link_header};
use std::io;
use std::time::{Duration, Instant};

/// The attribute that says so, and its value for a device that works (`linux/if_link.h`, `linux/if.h`).
const IFLA_OPERSTATE: u16 = 16;
const IF_OPER_UP: u8 = 6;

impl Netlink {
    /// Whether the kernel sends by a device that has got a carrier, or lost one, since it was made.
    fn sends(&self, device: u32) -> Result<bool, NetlinkError> {
        let header = link_header(device, 0);
        let question = Message::new(libc::RTM_GETLINK, 0, &header, format!("ask for device {device}"));
        let answer = self.ask(question)?;
        let state = |(kind, value): &(u16, &[u8])| *kind == IFLA_OPERSTATE && *value == [IF_OPER_UP];
        Ok(attributes(&answer, LINK_HEADER_BYTES).iter().any(state))
    }
}

/// Waits until the kernel sends by a device that is up and has just got its carrier (its cable, or the reader of a TUN
/// device that was left behind), at most for so long. Flags do not say so: the device has them at once, and drops what
/// it is given until a thread of the kernel has started its queue: a fraction of a millisecond, or several where
/// processors are busy.
///
/// # Errors
/// When there is no such device, or the kernel gives no netlink socket.
pub fn wait_until_it_sends(device: &str, patience: Duration) -> io::Result<()> {
    let (netlink, index) = (Netlink::route()?, device_index(device)?);
    let deadline = Instant::now() + patience;
    while !netlink.sends(index).map_err(|error| error.source)? && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
