//! Batteries with a floor.
use prismux_sharing::{Battery, BatteryFloor, Power};

fn power(percent: u8, is_on_mains: bool) -> Option<Power> {
    Some(Power { percent, is_on_mains })
}

#[test]
fn nothing_is_lent_below_the_floor_until_the_battery_is_well_above_it_or_charged() {
    let mut battery = Battery::new("30 %".parse().unwrap());
    assert_eq!(battery.judge(None), None, "no battery");
    assert_eq!(battery.judge(power(30, false)), None);
    let rest = battery.judge(power(29, false)).unwrap();
    assert_eq!(rest.to_string(), "its battery is below 30 %, and nothing charges it");
    assert!(battery.judge(power(34, false)).is_some());
    assert_eq!(battery.judge(power(35, false)), None);
    assert!(battery.judge(power(3, false)).is_some());
    assert_eq!(battery.judge(power(3, true)), None);
}

#[test]
fn a_floor_is_written_in_percent() {
    for text in ["1 %", "30%", "95 %"] {
        assert!(text.parse::<BatteryFloor>().is_ok(), "{text}");
    }
    for text in ["", "%", "0 %", "96 %", "30", "0.3", "-3 %", "300 %"] {
        assert!(text.parse::<BatteryFloor>().is_err(), "{text}");
    }
}
