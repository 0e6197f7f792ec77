"""tf.contrib.autograph: conversion without `tf.function`."""
