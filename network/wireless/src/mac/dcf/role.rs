//! What a host is to the medium access.
use super::Dcf;
use crate::air::setup::Role;
use crate::mac::config::Mac;

impl<P: Copy> Dcf<P> {
    /// The host is from now on what its role says, on a channel with slots or polling; on another one it contends.
    pub fn take_role(&mut self, role: Role, mac: &Mac) {
        self.in_slots = mac.slots.is_some();
        let list = match role {
            Role::SlotOwner(numbers) => return self.own(numbers),
            Role::AccessPoint(list) => Some(list),
            Role::Station => None,
        };
        if mac.polling.is_some() {
            self.take_part(list);
        }
    }
}
