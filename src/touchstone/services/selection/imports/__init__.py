"""Import of metadata documents: conversion of request bodies to records and claims."""
