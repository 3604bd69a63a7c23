use crate::{ByteCount, Duration, Instant, Probability, Rate};
use alloc::string::ToString;

#[test]
fn quantities_read_and_print_the_same_text() {
    for text in ["500 ms", "1.5 s", "20 us", "7 ns"] {
        assert_eq!(text.parse::<Duration>().unwrap().to_string(), text);
    }
    for text in ["1.8 Mbit/s", "600 kbit/s", "50 Mbit/s", "9 bit/s"] {
        assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
    }
    assert_eq!("14 MB".parse::<ByteCount>().unwrap(), ByteCount::new(14_000_000));
    assert_eq!("0.6 %".parse::<Probability>().unwrap().as_f64(), 0.006);
}

#[test]
fn a_wrong_unit_says_what_was_expected() {
    let error = "50 MiB".parse::<ByteCount>().unwrap_err().to_string();
    assert!(error.contains("50 MiB") && error.contains("14 MB"), "{error}");
    assert!("5".parse::<Duration>().is_err());
    assert!("-5 ms".parse::<Duration>().is_err());
    assert!("1.2".parse::<Probability>().is_err());
}

#[test]
fn transmission_time_rounds_up_and_never_divides_by_zero() {
    assert_eq!(Rate::from_mbps(10).transmission_time(ByteCount::new(1500)), Duration::from_micros(1200));
    assert_eq!(Rate::from_bps(3).transmission_time(ByteCount::new(1)).as_nanos(), 2_666_666_667);
    assert_eq!(Rate::ZERO.transmission_time(ByteCount::new(1)), Duration::MAX);
    assert_eq!(Rate::from_mbps(10).bytes_in(Duration::from_millis(100)), ByteCount::new(125_000));
}

#[test]
fn instants_saturate_instead_of_wrapping() {
    assert_eq!(Instant::from_secs(1) - Instant::from_secs(2), Duration::ZERO);
    assert_eq!(Instant::from_secs(1) + Duration::MAX, Instant::MAX);
}
