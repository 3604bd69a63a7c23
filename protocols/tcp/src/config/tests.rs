extern crate alloc;

use super::{TcpConfig, TcpProfile};
use alloc::string::ToString;

#[test]
fn profiles_are_found_by_the_name_they_print() {
    for profile in TcpProfile::ALL {
        assert_eq!(profile.to_string().parse(), Ok(profile));
    }
    let error = "linux-7".parse::<TcpProfile>().unwrap_err().to_string();
    assert!(error.contains("modern") && error.contains("ns2-2002"), "{error}");
}

#[test]
fn era_profiles_lack_what_came_later() {
    for config in [TcpConfig::ns2_2002(), TcpConfig::linux_2_4()] {
        assert!(!config.engine.rack && !config.engine.tlp);
        assert_eq!(config.engine.initial_window_segments, 2);
    }
    assert!(!TcpConfig::ns2_2002().timestamps);
    assert_eq!(TcpConfig::ns2_2002().delayed_ack, None);
    assert_eq!(TcpConfig::default(), TcpConfig::modern());
}
