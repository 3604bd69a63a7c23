use super::{Summary, student_t_975};

#[test]
fn the_interval_is_that_of_the_textbook() {
    // Ten values of mean 5.5 and variance 9.1667: 2.262 * 3.0277 / sqrt(10) = 2.1657.
    let values: Vec<f64> = (1..=10).map(f64::from).collect();
    let summary = Summary::of(&values).unwrap();
    assert_eq!(summary.mean, 5.5);
    assert!((summary.sd - 3.0277).abs() < 1e-4);
    assert!((summary.half_width() - 2.1657).abs() < 1e-3);
}

#[test]
fn quantiles_join_at_thirty_degrees_of_freedom() {
    assert!((student_t_975(31) - 2.0395).abs() < 1e-3);
    assert!((student_t_975(60) - 2.0003).abs() < 1e-3);
    assert!((student_t_975(100_000) - 1.96).abs() < 1e-3);
}

#[test]
fn one_value_has_no_interval_and_none_has_no_mean() {
    assert_eq!(Summary::of(&[3.0]).unwrap().ci95, None);
    assert!(Summary::of(&[]).is_none());
}

#[test]
fn equal_values_have_no_interval_and_say_so() {
    // The mean of three tenths is not a tenth to the last bit: it must not make a tiny spread.
    let summary = Summary::of(&[0.1, 0.1, 0.1]).unwrap();
    assert_eq!((summary.mean, summary.sd, summary.ci95, summary.all_equal), (0.1, 0.0, None, true));
    assert!(!Summary::of(&[0.1]).unwrap().all_equal);
    assert!(!Summary::of(&[0.1, 0.2]).unwrap().all_equal);
}
